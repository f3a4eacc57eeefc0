import os
import shutil
from pathlib import Path

import numpy as np
import torch
import torch.distributed as dist

dist.init_process_group("gloo")


def keep(folder, model):
    last = os.path.join(folder, "last.pt")
    torch.save(model.state_dict(), last)
    shutil.copyfile(last, os.path.join(folder, "best.pt"))


keep("out", torch.nn.Linear(2, 2))
