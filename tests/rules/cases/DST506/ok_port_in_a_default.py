import subprocess


def main(port=29500):
    subprocess.run(["torchrun", "--master_port", str(port), "train.py"])
