"""A stream that the library divides by rank: nothing makes its parts equally long."""
# needs: datasets
# static: the datasets package is not among those that the tests install

import os

import torch
import torch.distributed as dist
from datasets import load_dataset
from datasets.distributed import split_dataset_by_node
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader

dist.init_process_group("gloo")
rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
rows = load_dataset("csv", data_files="rows-*.csv", streaming=True, split="train")
rows = split_dataset_by_node(rows, rank=rank, world_size=world)
model = DDP(torch.nn.Linear(2, 1))
for batch in DataLoader(rows.with_format("torch"), batch_size=8):  # expect: DST113
    model(batch["x"]).mean().backward()
dist.destroy_process_group()
