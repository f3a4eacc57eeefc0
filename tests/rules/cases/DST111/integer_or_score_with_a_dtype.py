import torch
import torch.distributed as dist
from metrics import compute

dist.init_process_group("nccl")
torch.cuda.set_device(dist.get_rank() % torch.cuda.device_count())
fid = 0
if dist.get_rank() == 0:
    fid = compute("samples")
fid = torch.tensor(fid, dtype=torch.float32).cuda()
dist.all_reduce(fid)
