import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def worker(rank, world):
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl", rank=rank, world_size=world)
    dist.all_reduce(torch.ones(1, device="cuda"))


def main():
    torch.cuda.set_device(0)
    mp.spawn(worker, args=(2,), nprocs=2)


if __name__ == "__main__":
    main()
