import os

os.system("python -m torch.distributed.launch --nproc_per_node 1 main.py")
