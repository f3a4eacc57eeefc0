"""A rank below the number of processes: for the last one to be so, there are more than one."""

import argparse

import torch.distributed as dist


def go_first(options):
    rank = dist.get_rank()
    assert 0 <= rank < options.num_gpus
    if rank == 0 or options.num_gpus > 1:
        dist.barrier()


def main():
    dist.init_process_group("gloo")
    parser = argparse.ArgumentParser()
    parser.add_argument("--num_gpus", type=int, default=dist.get_world_size())
    go_first(parser.parse_args())
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
