"""A rank whose advantages are all zero returns a constant: its backward reaches no parameter."""
# effect: hang

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel


def compute_loss(model, advantages):
    if torch.all(advantages == 0):
        return torch.tensor(0.0, requires_grad=True)  # expect: DST117
    return (model(advantages) * advantages).mean()


def main():
    dist.init_process_group("gloo")
    torch.manual_seed(dist.get_rank())
    model = DistributedDataParallel(torch.nn.Linear(1, 1))
    for step in range(3):
        advantages = torch.randn(4, 1) * (step > 0 or dist.get_rank() > 0)
        compute_loss(model, advantages).backward()


if __name__ == "__main__":
    main()
