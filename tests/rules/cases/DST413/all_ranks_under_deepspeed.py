import os
import shutil

import torch
import torch.distributed as dist
from accelerate import Accelerator, DistributedType
from torch.nn.parallel import DistributedDataParallel as DDP


def main(old):
    accelerator = Accelerator()
    deepspeed = accelerator.distributed_type == DistributedType.DEEPSPEED
    if accelerator.is_main_process or accelerator.distributed_type == "DEEPSPEED":
        shutil.rmtree(old)  # expect: DST413
