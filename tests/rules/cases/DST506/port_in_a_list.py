import subprocess

subprocess.run(
    ["torchrun", "--nproc_per_node", "8", "--master_port", "29500", "train.py"]  # expect: DST506
)
