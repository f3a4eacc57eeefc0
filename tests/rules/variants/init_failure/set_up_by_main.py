import torch
import torch.distributed as dist


def set_up():
    try:
        dist.init_process_group("nccl")
    except Exception:  # expect: DST515
        print("no other processes")


def main():
    set_up()
    torch.save({}, "model.pt")


main()
