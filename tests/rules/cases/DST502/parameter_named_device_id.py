import torch
import torch.distributed as dist


def train(device_id, world_size):
    dist.init_process_group("nccl", rank=device_id, world_size=world_size)  # expect: DST502
    torch.ones(1).to(device_id)
    dist.barrier()


if __name__ == "__main__":
    torch.multiprocessing.spawn(train, args=(2,), nprocs=2)
