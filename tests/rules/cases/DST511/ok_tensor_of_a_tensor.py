import torch
import torch.distributed as dist


def first(model, loader, given):
    dist.init_process_group("nccl")
    running = 0.0
    for x in loader:
        running += model(x).detach()
    mean = torch.tensor(running / len(loader))
    dist.all_reduce(mean)
    other = torch.tensor(given)
    dist.all_reduce(other)
    best = torch.as_tensor(max(model(x) for x in loader))
    dist.all_reduce(best)


def second(losses, device):
    mean = torch.tensor(sum(losses) / len(losses))
    dist.all_reduce(mean)
    moved = torch.tensor(float(losses[0]))
    moved = moved.to(device)
    dist.all_reduce(moved)
    placed = torch.tensor(len(losses), device="cuda")
    dist.all_reduce(placed)
