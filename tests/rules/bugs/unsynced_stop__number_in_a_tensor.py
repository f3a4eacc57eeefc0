"""What a rank has put in a tensor of its own is its own when it takes it out."""
# effect: hang

import sys

import torch
import torch.distributed as dist


def load_shard(rank):
    if rank == 0:
        raise OSError("no shard")


def main():
    dist.init_process_group("gloo")
    loaded = True
    try:
        load_shard(dist.get_rank())
    except OSError:
        loaded = False
    status = torch.tensor([int(loaded)])
    if status.item() == 0:  # expect: DST110
        sys.exit(0)
    dist.barrier()


if __name__ == "__main__":
    main()
