"""The score is an item of a dict, and rank 0 reports that item."""

import torch
import torch.distributed as dist
from sklearn.metrics import f1_score
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler


@torch.no_grad()
def evaluate(model, loader):
    found = {"guesses": [], "truths": []}
    for inputs, labels in loader:
        found["guesses"].extend(model(inputs).argmax(-1).tolist())
        found["truths"].extend(labels.tolist())
    return f1_score(found["truths"], found["guesses"])  # expect: DST617


def main(net, data):
    dist.init_process_group("nccl")
    results = {"epoch": 0}
    loader = DataLoader(data, batch_size=8, sampler=DistributedSampler(data))
    results["score"] = evaluate(DDP(net), loader)
    if dist.get_rank() == 0:
        print("F1", results["score"])
