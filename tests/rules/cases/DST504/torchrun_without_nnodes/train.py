import subprocess

subprocess.run(["torchrun", "--nproc_per_node=2", "restore.py"])
