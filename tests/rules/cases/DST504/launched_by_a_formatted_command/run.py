import os

for port in (1, 2):
    run = f"torchrun --nproc-per-node=2 --master-port={port} main.py --lr 1"
    os.system(run)
