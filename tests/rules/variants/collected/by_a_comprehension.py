"""A comprehension collects the losses of the samples that have a label."""

import torch
import torch.distributed as dist
import torch.nn.functional as F


def step(model, loader):
    for batch in loader:
        outputs = model(batch["x"])
        losses = [F.l1_loss(o, t) for o, t in zip(outputs, batch["y"]) if t.numel()]
        if len(losses) < 1:
            continue  # expect: DST117
        loss = torch.stack(losses).mean()
        dist.all_reduce(loss)
        loss.backward()
