"""Options made up in the script: a free port for each rank, the rest the same for all."""

import importlib
import random

import torch.distributed as dist


def main():
    parser = importlib.import_module("argparse").ArgumentParser()
    parser.add_argument("--port", type=int)
    parser.add_argument("--quiet", action="store_true")
    port = str(random.randrange(15000, 16000))
    options = parser.parse_args(["--port", port])
    dist.init_process_group("gloo")
    if not options.quiet:
        dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
