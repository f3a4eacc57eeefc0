"""The same with names that say nothing."""

import torch
import torch.distributed as dist
import torch.nn.functional as F


def fit(net, data, optimizer):
    for images, labels in data:
        out = net(images.cuda())
        loss = F.mse_loss(out, labels.cuda())
        if torch.isnan(loss):
            continue  # expect: DST117
        loss.backward()
        for p in net.parameters():
            dist.all_reduce(p.grad)
        optimizer.step()
