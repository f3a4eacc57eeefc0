import torch
import torch.distributed as dist
from files import read
from torch.nn.parallel import DistributedDataParallel as DDP


def put_into(model, state):
    model.load_state_dict(state["model"])


def main(path):
    dist.init_process_group("nccl")
    model = DDP(torch.nn.Linear(2, 1).cuda())
    state = read(path)
    put_into(model, state)
