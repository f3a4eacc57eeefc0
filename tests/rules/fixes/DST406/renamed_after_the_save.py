import os
import shutil
from pathlib import Path

import numpy as np
import torch
import torch.distributed as dist

dist.init_process_group("gloo")


def cache(path, found):
    torch.save(found, path)
    path.with_suffix(".pt").rename(path)


cache(Path("labels.cache"), torch.ones(1))
