import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def fit_probe(features, labels):
    probe = torch.nn.Linear(2, 1)
    optimizer = torch.optim.Adam(probe.parameters())
    for _ in range(10):
        optimizer.zero_grad()
        (probe(features) - labels).pow(2).mean().backward()
        optimizer.step()
    return probe


def main(loader, features, labels):
    dist.init_process_group("gloo")
    model = DDP(torch.nn.Linear(2, 1))
    optimizer = torch.optim.Adam(model.parameters())
    for batch in loader:
        optimizer.zero_grad()
        model(batch).mean().backward()
        optimizer.step()
        if dist.get_rank() == 0:
            fit_probe(features, labels)
