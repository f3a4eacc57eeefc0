import os

OPTIONS = ["--nnodes=2", "--nproc_per_node=8"]  # expect: DST824
os.system(" ".join(["torchrun", *OPTIONS, "train.py"]))
