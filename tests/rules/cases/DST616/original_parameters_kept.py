import torch
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP

opt = torch.optim.AdamW(net.parameters())
net = FSDP(net, use_orig_params=True)
