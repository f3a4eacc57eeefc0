import torch
import torch.distributed as dist
from fast import Prefetcher
from loaders import make


def main(data, model, opt, epochs=3):
    dist.init_process_group("nccl")
    loader = make(data)
    fast = Prefetcher(loader, "cuda")

    for epoch in range(epochs):
        for batch in fast:
            loss = model(batch).mean()
            loss.backward()
            opt.step()
