import os

import torch

if os.environ["LOCAL_WORLD_SIZE"] != os.environ["WORLD_SIZE"]:
    print("several nodes")
if os.environ["WORLD_SIZE"] != "1" and os.environ["WORLD_SIZE"] != os.environ["LOCAL_WORLD_SIZE"]:
    raise RuntimeError("depends")
torch.cuda.set_device(int(os.environ["RANK"]))  # expect: DST504
