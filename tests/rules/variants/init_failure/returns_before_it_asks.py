import torch.distributed as dist


def set_up(args):
    try:
        dist.init_process_group("nccl")
    except Exception:  # expect: DST515
        args.rank = 0
        return
    args.rank = dist.get_rank()


def main(args, model):
    set_up(args)
    model.fit()
