import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def save(net, path):
    net = DDP(net)
    state = {}
    if dist.get_rank() == 0:
        try:
            state["model"] = net.module.state_dict()
        except AttributeError:
            state["model"] = net.state_dict()
        torch.save(state, path)


def save_again(net, path):
    net = DDP(net)
    state = {}
    if dist.get_rank() == 0:
        try:
            state["step"] = net.step
        except AttributeError:
            state["model"] = net.state_dict()  # expect: DST401
        torch.save(state, path)
