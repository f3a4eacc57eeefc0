import torch.distributed as dist
from core import *


def main():
    if dist.get_rank() == 0:  # expect: DST101
        meet()
