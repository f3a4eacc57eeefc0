import torch
import torch.distributed as dist


def join():
    dist.init_process_group("nccl")  # expect: DST502


def pick(index):
    torch.cuda.set_device(index)


def main(args):
    if args.distributed:
        join()
    else:
        pick(args.gpu)
    return torch.nn.Linear(2, 2).to("cuda")


if __name__ == "__main__":
    main(None)
