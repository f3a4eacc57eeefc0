import torch.distributed as dist

import core.talk
import loops


def main():
    loops.meet()
    if dist.get_rank() == 0:
        core.talk.meet()
