import torch.distributed as dist


def rank_of():
    return dist.get_rank() if dist.is_initialized() else 0


def main(model, batches):
    try:
        dist.init_process_group("nccl")
    except Exception:  # expect: DST515
        print("one process")
    rank = rank_of()
    for batch in batches:
        model(batch, rank).backward()
