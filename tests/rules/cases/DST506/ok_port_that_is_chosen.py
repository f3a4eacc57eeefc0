import os
import socket
import subprocess


def free_port():
    with socket.socket() as found:
        found.bind(("", 0))
        return found.getsockname()[1]


def main(args):
    subprocess.run(["torchrun", "--master_port", str(free_port()), "train.py"])
    subprocess.run(["torchrun", "--master_port", str(args.port), "train.py"])
    subprocess.run(["torchrun", "--master_port=0", "train.py"])
    subprocess.run(["torchrun", "--standalone", "train.py"])
    subprocess.run(["torchrun", "--rdzv_backend=c10d", "--rdzv_endpoint=localhost:0", "train.py"])
    os.system(f"torchrun --master_port={free_port()} train.py")
    port = 29500
    while args.taken(port):
        port += 1
    os.system(f"torchrun --master_port={port} train.py")
    subprocess.run(["python", "train.py", "--master_port", "29500"])
