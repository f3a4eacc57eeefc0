import os

import torch

nnodes = int(os.environ.get("SLURM_JOB_NUM_NODES", 1))
if not nnodes == 1:
    raise NotImplementedError("several nodes")
torch.cuda.set_device(int(os.environ["RANK"]))
