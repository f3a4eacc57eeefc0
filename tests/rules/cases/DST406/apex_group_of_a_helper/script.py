import argparse

import torch
from apex.parallel import DistributedDataParallel as DDP
from helpers import seed


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--local_rank", type=int, default=-1)
    args = parser.parse_args()
    seed(1)
    model = torch.nn.Linear(2, 2)
    if args.local_rank != -1:
        model = DDP(model)
    torch.save(model.state_dict(), "a.pt")  # expect: DST406


if __name__ == "__main__":
    main()
