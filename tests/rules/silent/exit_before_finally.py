"""The main process leaves from within a ``try``, and meets the others in its ``finally``."""

import sys

import torch.distributed as dist


def main():
    dist.init_process_group("gloo")
    try:
        if dist.get_rank() == 0:
            print("nothing to do")
            sys.exit(0)
    finally:
        dist.barrier()


if __name__ == "__main__":
    main()
