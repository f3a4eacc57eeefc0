import torch.distributed as dist


def meet():
    dist.barrier()


class Saver:
    def __init__(self, path, at_end=None):
        self.path = path
        self.at_end = at_end

    def save(self):
        if dist.get_rank() == 0:  # expect: DST101
            print(self.path)
            self.at_end()


def main():
    Saver("last.pt", at_end=meet).save()
