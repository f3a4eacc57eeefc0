import torch

from data import build_loader


@torch.no_grad()
def score(model, data, rounds):
    torch.distributed.init_process_group("nccl")
    loader = build_loader(data, 32)
    total = torch.zeros(1)
    for _ in range(rounds):
        for inputs, labels in loader:
            total += model(inputs).argmax(-1).eq(labels).sum()
    torch.distributed.all_reduce(total)
    return total
