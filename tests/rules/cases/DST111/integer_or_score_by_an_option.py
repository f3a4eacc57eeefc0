import torch
import torch.distributed as dist
from metrics import compute

dist.init_process_group("nccl")
torch.cuda.set_device(dist.get_rank() % torch.cuda.device_count())
import sys

fid = 0
if "--fid" in sys.argv:
    fid = compute("samples")
fid = torch.tensor(fid).cuda()
dist.all_reduce(fid)
