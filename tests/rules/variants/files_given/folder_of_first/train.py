"""The twin: it sends the others away."""

import torch.distributed as dist
from output import prepare


def main():
    dist.init_process_group("gloo")
    prepare("out", dist.get_rank())
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
