import torch.distributed as dist


def set_up(args):
    try:
        dist.init_process_group("nccl")
    except Exception:  # expect: DST515
        print("one process")
    args.rank = dist.get_rank() if dist.is_initialized() else 0


def main(args, model):
    set_up(args)
    model.fit()
