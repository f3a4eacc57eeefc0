import torch
from torch.distributed.fsdp import fully_shard

opt = torch.optim.AdamW(net.parameters())
fully_shard(net)
opt = torch.optim.AdamW(net.parameters())
