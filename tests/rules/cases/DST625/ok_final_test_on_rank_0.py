import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def evaluate(model, loader):
    model.eval()
    return sum(model(batch).mean().item() for batch in loader)


def main(loader, test_loader):
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    model = DDP(torch.nn.Linear(2, 1))
    optimizer = torch.optim.Adam(model.parameters())
    for batch in loader:
        optimizer.zero_grad()
        model(batch).mean().backward()
        optimizer.step()
    if rank == 0:
        model.module.load_state_dict(torch.load("best.pt"))
        print(evaluate(model.module, test_loader))
    dist.barrier()
