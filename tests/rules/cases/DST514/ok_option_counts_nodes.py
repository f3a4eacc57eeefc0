import argparse

import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def worker(rank, args):
    dist.init_process_group("nccl", rank=rank, world_size=args.world_size)
    print(dist.get_rank())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--world_size", type=int, default=1)
    args = parser.parse_args()
    gpus = torch.cuda.device_count()
    args.world_size = gpus * args.world_size
    mp.spawn(worker, args=(args,), nprocs=gpus)


if __name__ == "__main__":
    main()
