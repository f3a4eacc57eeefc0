import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler

dist.init_process_group("nccl")
model = DDP(net)
train_loader = DataLoader(train_set, batch_size=32, shuffle=True)  # expect: DST202
test_sampler = DistributedSampler(test_set, shuffle=False)
test_loader = DataLoader(test_set, batch_size=32, sampler=test_sampler)
for epoch in range(10):
    for batch in train_loader:
        model(batch).mean().backward()
