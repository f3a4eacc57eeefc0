import os
import shutil
from pathlib import Path

import numpy as np
import torch
import torch.distributed as dist

dist.init_process_group("gloo")


def cache(name, found):
    np.save(name + ".part", found)
    os.rename(name + ".part.npy", name)


cache("labels", np.ones(1))
