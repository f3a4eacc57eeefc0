import torch.distributed as dist
from filelock import FileLock
from torchvision.datasets import MNIST

dist.init_process_group("gloo")
lock = FileLock("data.lock")
with lock:
    data = MNIST("data", download=True)
