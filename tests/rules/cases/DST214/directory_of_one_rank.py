import datetime
import os
import time

import torch
import torch.distributed as dist


def main(output_dir, name, debug):
    dist.init_process_group("nccl")
    now = datetime.datetime.now().strftime("-%Y-%m-%dT%H-%M-%S")
    output_dir = os.path.join(output_dir, "debug" if debug else name + now)
    if dist.get_rank() == 0:
        os.makedirs(f"{output_dir}/ckpt", exist_ok=True)
    dist.barrier()
    torch.save(torch.ones(1), f"{output_dir}/ckpt/rank{dist.get_rank()}.pt")  # expect: DST214
