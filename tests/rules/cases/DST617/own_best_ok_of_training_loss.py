import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler
from tqdm import tqdm


def main(model, data, epochs, optimizer):
    model = DDP(model)
    loader = DataLoader(data, batch_size=4, sampler=DistributedSampler(data))
    for epoch in range(epochs):
        loader.sampler.set_epoch(epoch)
        total = 0.0
        for x, y in loader:
            loss = (model(x) - y).abs().mean()
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            total += loss.item()
        mean = total / len(loader)
        print(mean)
