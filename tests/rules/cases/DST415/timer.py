import torch.distributed as dist
from filelock import FileLock
from torchvision.datasets import MNIST

dist.init_process_group("gloo")
lock = FileLock("data.lock")
with timer:
    data = MNIST("data", download=True)  # expect: DST415
