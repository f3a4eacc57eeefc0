import os

import torch
import torch.distributed as dist


def setup():
    dist.init_process_group("nccl")
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))


def step(net, batch):
    net(batch).sum().backward()


def use(x):
    if dist.get_rank() == 0:
        torch.save(x.state_dict(), "last.pt")


def load(net):
    state = torch.load("last.pt", map_location="cpu")
    net.load_state_dict({k.replace("module.", ""): v for k, v in state.items()})
