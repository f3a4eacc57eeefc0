import torch
import torch.distributed as dist
from metrics import compute

dist.init_process_group("nccl")
torch.cuda.set_device(dist.get_rank() % torch.cuda.device_count())
count = 0
if dist.get_rank() == 0:
    count = len(compute("samples"))
count = torch.tensor(count).cuda()
dist.all_reduce(count)
