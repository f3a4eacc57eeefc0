import torch.distributed as dist


def join():
    try:
        dist.init_process_group("nccl")
    except Exception:  # expect: DST515
        print("alone")
    rank = 0
    return rank
