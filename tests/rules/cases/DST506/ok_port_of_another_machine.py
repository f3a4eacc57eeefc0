import subprocess


def main(node, head):
    cmd = ["torchrun", "--nnodes=2", f"--node_rank={node}", f"--master_addr={head}"]
    subprocess.run([*cmd, "--master_port=29500", "train.py"])
