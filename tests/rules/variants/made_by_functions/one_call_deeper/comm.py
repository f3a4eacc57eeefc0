import torch.distributed as dist


class Comm:
    def sync(self):
        dist.barrier()


def make():
    return Comm()


def build():
    return make()
