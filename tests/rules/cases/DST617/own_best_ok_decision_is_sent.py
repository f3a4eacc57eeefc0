import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler
from tqdm import tqdm


def main(model, val, epochs, train, path):
    model = DDP(model)
    val_loader = DataLoader(val, batch_size=4, sampler=DistributedSampler(val))
    best = 0.0
    for epoch in range(epochs):
        train(model)
        total = 0.0
        with torch.no_grad():
            for x, y in val_loader:
                total += (model(x).argmax(1) == y).float().mean().item()
        accuracy = total / len(val_loader)
        improved = torch.zeros(1)
        if accuracy > best:
            best = accuracy
            improved = torch.ones(1)
        dist.all_reduce(improved, dist.ReduceOp.MIN)
        if improved.item():
            torch.save(model.module.state_dict(), path)
