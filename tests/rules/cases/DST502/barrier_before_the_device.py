import os

import torch
import torch.distributed as dist

dist.init_process_group("nccl")
dist.barrier()  # expect: DST502
torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
dist.barrier()
