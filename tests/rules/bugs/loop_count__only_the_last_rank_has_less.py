"""Ranks that would end the job find nothing to complain of when the last part alone is short."""
# effect: hang
# ranks: 4

import argparse
import os

import torch
import torch.distributed as dist


class Trainer:
    def __init__(self, names):
        self.names = names
        self.rank = dist.get_rank()
        self.world_size = dist.get_world_size()
        self.local_rank = int(os.environ["LOCAL_RANK"])

    def run(self):
        for _ in self.names[self.rank :: self.world_size]:  # expect: DST109
            dist.all_reduce(torch.ones(1))
        if self.local_rank == 0:
            raise RuntimeError("no model")


def main():
    dist.init_process_group("gloo")
    parser = argparse.ArgumentParser()
    parser.add_argument("--names", nargs="*", default=["a", "b", "c"])
    Trainer(parser.parse_args().names).run()


if __name__ == "__main__":
    main()
