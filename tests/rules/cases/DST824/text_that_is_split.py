import shlex
import subprocess

subprocess.run(shlex.split("torchrun --nnodes=2 --nproc_per_node=8 train.py"))  # expect: DST824
subprocess.run("torchrun --nnodes=4 --nproc_per_node=8 train.py".split())  # expect: DST824
