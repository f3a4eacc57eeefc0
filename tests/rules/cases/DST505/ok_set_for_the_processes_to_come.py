import os
import subprocess

import torch

print(torch.cuda.get_device_name(0))


def start(gpus):
    os.environ["CUDA_VISIBLE_DEVICES"] = ",".join(gpus)
    subprocess.run(["python", "train.py"], check=True)


start(["0", "1"])
