import os
import shutil

import torch.distributed as dist

dist.init_process_group("gloo")
folder = os.environ["OUT"]
if dist.get_rank() == 0:
    shutil.rmtree(folder)
print(folder)
