import subprocess

subprocess.run(["torchrun", "--nnodes=1", "--nproc_per_node=2", "restore.py"])
