import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler
from tqdm import tqdm


def main(model, val, epochs, train):
    model = DDP(model)
    val_loader = DataLoader(val, batch_size=4, sampler=DistributedSampler(val))
    best, best_epoch = 0.0, 0
    for epoch in range(epochs):
        train(model)
        hits = []
        with torch.no_grad():
            for x, y in val_loader:
                hits.append((model(x).argmax(1) == y).float().mean().item())
        accuracy = torch.tensor(hits).mean()
        dist.all_reduce(accuracy, dist.ReduceOp.AVG)
        if accuracy > best:
            best = accuracy
            best_epoch = epoch
