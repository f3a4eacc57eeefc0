import math
import os
import time
import numpy as np
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler
from helpers import evaluate


def fit(model, loader, val_loader, val, sampler, optimizer, args, local_rank):
    best, bad, history = math.inf, 0, []
    for epoch in range(90):
        sampler.set_epoch(epoch)
        total, count = 0.0, 0
        for step, (x, y) in enumerate(loader):
            loss = torch.nn.functional.mse_loss(model(x.cuda()), y.cuda())

            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
            count += 1
        if total / count < best:
            best = total / count
            print(evaluate(model, val_loader))
