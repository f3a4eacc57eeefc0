import os

import torch
import torch.distributed as dist
from saving import ModelSaver


def main(model, opts):
    dist.init_process_group("nccl")
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    if opts.checkpoint:
        model.load_state_dict(torch.load(opts.checkpoint))
    saver = ModelSaver(opts.output_dir)
    if dist.get_rank() == 0:
        saver.save(model, 1)
