"""A model and a sharded optimizer on every other rank, for a group of just these."""
# needs: fairscale

import torch
import torch.distributed as dist
from fairscale.optim import OSS
from torch.nn.parallel import DistributedDataParallel


def train(optimizer, model, batches):
    for batch in batches:
        model(batch).sum().backward()
        optimizer.step()


def main():
    dist.init_process_group("gloo")
    members = [0, 2]
    group = dist.new_group(members)
    if dist.get_rank() in members:
        model = DistributedDataParallel(torch.nn.Linear(2, 2), process_group=group)
        optimizer = OSS(model.parameters(), group=group, lr=0.1)
        train(optimizer, model, [torch.ones(1, 2)])
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
