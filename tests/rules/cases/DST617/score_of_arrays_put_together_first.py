import torch
import torch.distributed as dist
import numpy as np
from sklearn import metrics
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler


@torch.no_grad()
def evaluate(model, loader):
    guesses, truths = [], []
    for inputs, labels in loader:
        guesses.append(model(inputs).softmax(-1)[:, 1].cpu().numpy())
        truths.append(labels.numpy())
    scores = np.concatenate(guesses, axis=0)
    targets = np.concatenate(truths, axis=0)
    auc = metrics.roc_auc_score(targets, scores)  # expect: DST617
    return auc


def main(net, data):
    dist.init_process_group("nccl")
    val_loader = DataLoader(data, batch_size=8, sampler=DistributedSampler(data))
    score = evaluate(DDP(net), val_loader)
    if dist.get_rank() == 0:
        print("score", score)
