import os
import shutil

import torch.distributed as dist

dist.init_process_group("gloo")
folder = os.environ["OUT"]
shutil.rmtree(folder)
os.makedirs(folder)
