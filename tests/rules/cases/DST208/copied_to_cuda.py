import torch
import torch.distributed as dist
from torch.utils.data import DataLoader

loader = DataLoader(data, pin_memory=True, num_workers=2)
for batch in loader:
    batch = batch.to("cuda")  # expect: DST208
