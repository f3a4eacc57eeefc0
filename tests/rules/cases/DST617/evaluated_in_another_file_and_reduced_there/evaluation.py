import torch
import torch.distributed as dist


@torch.no_grad()
def evaluate(model, loader):
    model.eval()
    right, seen = 0, 0
    for inputs, labels in loader:
        right += model(inputs).argmax(-1).eq(labels).sum().item()
        seen += len(labels)
    both = torch.tensor([right, seen], device="cuda")
    dist.all_reduce(both)
    return (both[0] / both[1]).item()
