import copy

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def main(net, loader, path):
    dist.init_process_group("nccl")
    model = DDP(net)
    average = copy.deepcopy(net)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(3):
        for batch in loader:
            optimizer.zero_grad()
            model(batch).mean().backward()
            optimizer.step()
        if dist.get_rank() == 0:
            state = model.module.state_dict()
            state.update(torch.load(path))
            model.module.load_state_dict(state)  # expect: DST625
