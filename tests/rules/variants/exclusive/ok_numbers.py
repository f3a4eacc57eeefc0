import torch.distributed as dist


def main(zero_stage):
    if zero_stage == 3 and dist.get_rank() == 0:
        print("sharded")
    elif zero_stage in (1, 2):
        dist.barrier()
