import os

import torch
import torch.distributed as dist


def setup(backend):
    dist.init_process_group(backend)
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
