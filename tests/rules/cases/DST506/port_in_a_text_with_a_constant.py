import os

PORT = 29500
os.system(f"python -m torch.distributed.launch --master_port={PORT} train.py")  # expect: DST506
