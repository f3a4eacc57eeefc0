import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def worker(rank, world):
    dist.init_process_group("nccl", rank=rank, world_size=world)  # expect: DST502
    dist.all_reduce(torch.ones(1, device="cuda"))


def warm_up():
    torch.cuda.set_device(0)
    print(torch.cuda.get_device_name())


if __name__ == "__main__":
    warm_up()
    mp.spawn(worker, args=(2,), nprocs=2)
