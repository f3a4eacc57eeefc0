import torch.distributed as dist


def set_up(args):
    joined = True
    try:
        dist.init_process_group("nccl")
    except Exception:  # expect: DST515
        joined = False
    args.rank = 0
    if joined:
        args.rank = dist.get_rank()


def main(args, model):
    set_up(args)
    model.fit()
