import torch
import torch.distributed as dist
from helpers import load_into, replicate, step_probe


def worker(rank, world, loader, state):
    dist.init_process_group("gloo", rank=rank, world_size=world)
    net = torch.nn.Linear(2, 1)
    load_into(net, state, rank)
    model = replicate(net)
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    probe_opt = None
    if rank == 0:
        probe = torch.nn.Linear(2, 1)
        probe_opt = torch.optim.SGD(probe.parameters(), lr=0.1)
    for batch in loader:
        opt.zero_grad()
        model(batch).mean().backward()
        opt.step()
        step_probe(probe_opt, rank)
