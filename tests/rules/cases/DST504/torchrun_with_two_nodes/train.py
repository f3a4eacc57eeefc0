import subprocess

subprocess.run(["torchrun", "--nnodes=2", "--nproc_per_node=2", "restore.py"])
