import torch.distributed as dist


class Comm:
    def sync(self):
        dist.barrier()


def build():
    return Comm()


def main():
    comm = build()
    comm.sync()
    if dist.get_rank() == 0:
        print(comm)
