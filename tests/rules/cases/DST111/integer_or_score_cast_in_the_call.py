import torch
import torch.distributed as dist
from metrics import compute

dist.init_process_group("nccl")
fid = 0
if dist.get_rank() == 0:
    fid = compute("samples")
fid = torch.tensor(fid).cuda()
dist.all_reduce(fid.float())
