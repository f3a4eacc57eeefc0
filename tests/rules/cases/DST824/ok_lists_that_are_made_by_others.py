import subprocess


def options(address):
    return ["--master_addr", address, "--node_rank", "0"]


def main(address, fill):
    command = ["torchrun", "--nnodes=2"]
    command.extend(options(address))
    command.append("train.py")
    subprocess.run(command)
    other = ["torchrun", "--nnodes=2"]
    fill(other)
    other.append("train.py")
    subprocess.run(other)
    third = ["torchrun", "--nnodes=2", "train.py"]
    third[1:1] = options(address)
    subprocess.run(third)
    fourth = ["torchrun", "--nnodes=2", "train.py"]
    fourth.insert(1, f"--rdzv_endpoint={address}")
    subprocess.run(fourth)
