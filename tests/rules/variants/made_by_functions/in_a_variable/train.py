import torch.distributed as dist


class Comm:
    def __init__(self, name):
        self.name = name

    def sync(self):
        dist.barrier()


def build(name):
    comm = Comm(name)
    print("made", comm.name)
    return comm


def main():
    comm = build("first")
    if dist.get_rank() == 0:  # expect: DST101
        comm.sync()
