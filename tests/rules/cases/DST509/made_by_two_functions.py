import torch.distributed as dist


def setup():
    dist.init_process_group("nccl")


class Engine:
    def __init__(self):
        dist.init_process_group(backend="nccl")


def main():
    setup()
    return Engine()  # expect: DST509
