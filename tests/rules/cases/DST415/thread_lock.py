import threading

import torch.distributed as dist
from filelock import FileLock
from torchvision.datasets import MNIST

dist.init_process_group("gloo")
with threading.Lock():
    data = MNIST("data", download=True)  # expect: DST415
