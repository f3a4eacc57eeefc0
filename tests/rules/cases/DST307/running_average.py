# Not a list: it keeps no tensor.
import torch
import torch.distributed as dist
from mine import Average


def main(model, loader):
    seen = Average()
    for batch in loader:
        loss = model(batch)
        loss.backward()
        seen.append(loss)
