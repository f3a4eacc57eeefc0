import torch
import torch.distributed as dist


def setup(rank, world_size):
    dist.init_process_group("nccl", rank=rank, world_size=world_size)


def train(rank, world_size, args):
    torch.cuda.set_device(rank)
    setup(rank, world_size)
    device = torch.device(f"cuda:{rank}")
    model = torch.nn.Linear(2, 2).to(device)
    print(model)
    dist.barrier()
