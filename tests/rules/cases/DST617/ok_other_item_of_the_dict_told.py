"""Rank 0 reports another item of the dict; each rank reports its own score with its number."""

import torch
import torch.distributed as dist
from sklearn.metrics import f1_score
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler


@torch.no_grad()
def evaluate(model, loader):
    guesses, truths = [], []
    for inputs, labels in loader:
        guesses.extend(model(inputs).argmax(-1).tolist())
        truths.extend(labels.tolist())
    return f1_score(truths, guesses)


def main(net, data):
    dist.init_process_group("nccl")
    results = {}
    loader = DataLoader(data, batch_size=8, sampler=DistributedSampler(data))
    results["epoch"] = 3
    results["score"] = evaluate(DDP(net), loader)
    print(dist.get_rank(), results["score"])
    if dist.get_rank() == 0:
        print("epoch", results["epoch"])
