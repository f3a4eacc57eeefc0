"""Behind enumerate and a bar."""

import torch
import torch.distributed as dist
import torch.nn.functional as F
from tqdm import tqdm


def train(model, train_loader, optimizer):
    for step, batch in enumerate(tqdm(train_loader)):
        optimizer.zero_grad()
        out = model(batch["image"], batch["label"])
        if not torch.isfinite(out.loss):
            continue  # expect: DST117
        out.loss.backward()
        dist.all_reduce(out.loss)
        optimizer.step()
