import torch
import torch.distributed as dist

net = torch.nn.Linear(1, 1)


def setup():
    dist.init_process_group("nccl")


def step(model, batch):
    model(batch).sum().backward()


def use(x):
    torch.cuda.set_device(x)  # expect: DST504
    model = net.to(x)
