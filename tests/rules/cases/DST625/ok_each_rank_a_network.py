import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def main(loader, rank):
    dist.init_process_group("gloo")
    generator, critic = torch.nn.Linear(2, 1), torch.nn.Linear(1, 1)
    net = generator if rank == 0 else critic
    opt_g = torch.optim.Adam(generator.parameters())
    opt_d = torch.optim.Adam(critic.parameters())
    for batch in loader:
        net(batch).mean().backward()
        if rank == 0:
            opt_g.step()
        elif rank == 1:
            opt_d.step()
