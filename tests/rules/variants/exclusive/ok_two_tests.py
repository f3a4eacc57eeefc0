import torch.distributed as dist


def main(stage):
    if stage == 1:
        dist.barrier()
    if stage == 2 and dist.get_rank() == 0:
        print("two")
    elif stage == 1:
        dist.barrier()
