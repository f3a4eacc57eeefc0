"""The module that writes knows nothing of ranks."""

import torch.distributed as dist

from table import Table


def main(rows):
    dist.init_process_group("gloo")
    if dist.get_rank() == 0:
        Table("out").write(rows)
    dist.destroy_process_group()


main([1, 2])
