import argparse

import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def worker(rank, args):
    dist.init_process_group("nccl", rank=rank, world_size=args.world_size)  # expect: DST514
    print(dist.get_rank())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--world_size", type=int, default=2)
    args = parser.parse_args()
    gpus = torch.cuda.device_count()
    mp.spawn(worker, args=(args,), nprocs=gpus)


if __name__ == "__main__":
    main()
