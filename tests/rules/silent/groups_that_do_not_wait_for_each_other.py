"""Asynchronous collectives, each on a group of its own, that the ranks start in either order."""

import torch
import torch.distributed as dist


def summed(tensor, group):
    return dist.all_reduce(tensor, group=group, async_op=True)


def shared(tensor, group):
    return dist.broadcast(tensor, src=1, group=group, async_op=True)


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    sums, copies = dist.new_group(), dist.new_group()
    losses, weights = torch.ones(2) * rank, torch.ones(3) * rank
    if rank == 0:
        first = summed(losses, sums)
        second = shared(weights, copies)
    else:
        second = shared(weights, copies)
        first = summed(losses, sums)
    first.wait()
    second.wait()
    dist.barrier()
    print(losses.tolist(), weights.tolist())
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
