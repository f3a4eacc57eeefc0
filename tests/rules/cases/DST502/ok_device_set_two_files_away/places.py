import os

import torch


def choose():
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
