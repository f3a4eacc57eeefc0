"""T33. An iterable dataset that was sharded outside, evenly, by the library."""
# needs: datasets
# static: the datasets package is not among those that the tests install

import os

import torch
import torch.distributed as dist
from datasets import Dataset
from datasets.distributed import split_dataset_by_node
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader

dist.init_process_group("gloo")
rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
stream = Dataset.from_dict({"x": [[float(i), 1.0] for i in range(32)]}).to_iterable_dataset(4)
ds = split_dataset_by_node(stream, rank=rank, world_size=world)
loader = DataLoader(ds.with_format("torch"), batch_size=8, num_workers=4)
model = DDP(torch.nn.Linear(2, 1))
for batch in loader:
    model(batch["x"]).mean().backward()
dist.destroy_process_group()
