import os
import shutil
from pathlib import Path

import numpy as np
import torch
import torch.distributed as dist

dist.init_process_group("gloo")


def keep(old, path, model):
    if dist.get_rank() == 0:
        torch.save(model.state_dict(), path)
    os.rename(old, old + ".bak")


keep("old.pt", "new.pt", torch.nn.Linear(2, 2))
