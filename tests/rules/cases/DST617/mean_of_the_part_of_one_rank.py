"""One rank decides, or reports, by its part of the validation data."""

import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler
from tqdm import tqdm


def best_checkpoint(model, valset, epochs, path):
    dist.init_process_group("nccl")
    rank = dist.get_rank()
    model = DDP(model.cuda())
    loader = DataLoader(valset, batch_size=1, sampler=DistributedSampler(valset))
    best = 0.0
    for epoch in range(epochs):
        dice = 0.0
        with torch.no_grad():
            for img, mask in loader:
                pred = model(img.cuda()).argmax(dim=1)
                dice += (pred == mask.cuda()).float().mean().item()
        dice = dice / len(loader)  # expect: DST617
        if rank == 0:
            print(epoch, dice)
            if dice > best:
                best = dice
                torch.save(model.module.state_dict(), path)


class Trainer:
    def __init__(self, net, data):
        self.rank = int(os.environ["RANK"])
        dist.init_process_group("nccl")
        self.model = DDP(net.cuda())
        self.loader = DataLoader(data, 4, sampler=DistributedSampler(data, shuffle=False))

    @torch.no_grad()
    def validate(self):
        total, correct, seen = 0.0, 0, 0
        for step, (x, y) in enumerate(tqdm(self.loader)):
            out = self.model(x.cuda())
            total += out.mean().item()
            correct += (out.argmax(1) == y.cuda()).sum().item()
            seen += len(y)
        return {  # expect: DST617
            "val_loss": total / len(self.loader),
            "val_accuracy": correct / seen,
        }

    def train(self):
        metrics = self.validate()
        if self.rank == 0:
            print("val_accuracy", metrics["val_accuracy"])


def decided_in_the_test(model, data, local_rank):
    val_loader = DataLoader(data, 4, sampler=DistributedSampler(data, shuffle=False))
    best = float("inf")
    for epoch in range(3):
        val_loss = 0
        for batch in val_loader:
            val_loss += model(batch.cuda()).mean()
        if local_rank == 0 and val_loss.item() / len(val_loader) < best:  # expect: DST617
            torch.save(model.state_dict(), "best.pth")


def one_of_two_reduced(model, data, rank):
    val_loader = DataLoader(data, 4, sampler=DistributedSampler(data))
    loss, hits = torch.zeros(1).cuda(), 0
    for x, y in val_loader:
        loss += model(x).mean()
        hits += (model(x) == y).sum().item()
    dist.all_reduce(loss)
    loss = loss / len(val_loader)  # expect: DST617
    accuracy = hits / len(val_loader)  # expect: DST617
    if rank == 0:
        print(loss.item(), accuracy)
