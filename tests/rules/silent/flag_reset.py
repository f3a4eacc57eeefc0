"""A flag that is put back where it is set is not set behind that."""

import argparse
import time

import torch
import torch.distributed as dist

DEADLINE = time.time() + 3600


class Trainer:
    def __init__(self, args):
        self.args = args
        self.late = False

    def run(self):
        for _ in range(self.args.epochs):
            self.late = time.time() > DEADLINE
        if self.late:
            print("late")
            self.late = False
        if not self.late:
            dist.all_reduce(torch.ones(1))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=1)
    dist.init_process_group("gloo")
    Trainer(parser.parse_args()).run()
    dist.destroy_process_group()


main()
