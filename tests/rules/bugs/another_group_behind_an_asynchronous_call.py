"""What an asynchronous collective leaves open does not hide that the next ones differ."""
# effect: hang

import torch
import torch.distributed as dist


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    sums, copies = dist.new_group(), dist.new_group()
    losses, weights = torch.ones(2) * rank, torch.ones(3) * rank
    if rank == 0:  # expect: DST105
        first = dist.all_reduce(losses, group=sums, async_op=True)
        dist.broadcast(weights, src=1, group=copies)
    else:
        first = dist.all_reduce(losses, group=sums, async_op=True)
        first.wait()
        dist.barrier()
    dist.barrier()


if __name__ == "__main__":
    main()
