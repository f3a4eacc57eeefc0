import torch.distributed as dist


def probe():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    dist.destroy_process_group()
    return rank


def setup():
    dist.init_process_group("nccl")


def close():
    dist.destroy_process_group()


def main():
    probe()
    setup()
    close()
    setup()
