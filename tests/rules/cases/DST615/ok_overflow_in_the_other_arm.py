import torch
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.nn.utils import clip_grad_norm_


def train(model, opt, scaler, loader):
    for batch in loader:
        opt.zero_grad()
        loss = model(batch).mean()
        if loss.isfinite():
            loss.backward()
            clip_grad_norm_(model.parameters(), 1.0)
            opt.step()
        else:
            loss.backward()
            clip_grad_norm_(model.parameters(), 0.0)
