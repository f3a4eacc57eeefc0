import torch.distributed as dist


def setup():
    try:
        dist.init_process_group("nccl")
    except:  # expect: DST515
        print("no other processes")
