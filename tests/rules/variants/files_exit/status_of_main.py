"""At the end of the script, with what is trained."""

import sys

import torch
import torch.distributed as dist

from model import Model, batches

if __name__ == "__main__":
    dist.init_process_group("nccl")
    model = torch.nn.parallel.DistributedDataParallel(Model().cuda())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for batch in batches():
        model(batch).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
    torch.save(model.module.state_dict(), "model.pt")  # expect: DST406
    sys.exit(1)
