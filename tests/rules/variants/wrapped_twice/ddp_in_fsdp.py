import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP

dist.init_process_group("nccl")
torch.cuda.set_device(dist.get_rank() % torch.cuda.device_count())
net = DDP(torch.nn.Linear(2, 2).cuda())
sharded = FSDP(net)  # expect: DST624
dist.destroy_process_group()
