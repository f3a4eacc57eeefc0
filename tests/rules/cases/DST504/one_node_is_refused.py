import os

import torch

if os.environ["LOCAL_WORLD_SIZE"] == os.environ["WORLD_SIZE"]:
    raise RuntimeError("use the script for one node")
torch.cuda.set_device(int(os.environ["RANK"]))  # expect: DST504
