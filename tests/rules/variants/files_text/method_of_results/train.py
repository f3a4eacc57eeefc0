"""A method of another file writes."""

import torch.distributed as dist
from results import Results


def main():
    dist.init_process_group("gloo")
    results = Results("out.txt")
    results.write()


main()
