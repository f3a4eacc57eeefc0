import torch.distributed as dist

from saver import Saver


def meet():
    dist.barrier()


def main():
    saver = Saver()
    saver.call_after(meet)
    saver.save(dist.get_rank() == 0)  # expect: DST101
