"""What a function returns may have nothing to do with what it is given."""

import argparse
import random

import torch
import torch.distributed as dist


class Policy:
    every = 10

    def is_due(self, step, loss):
        history = [loss]
        print(history)
        return step % self.every == 0


def evaluates(args, noise):
    print(noise)
    return args.final_eval


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--final-eval", action="store_true")
    args = parser.parse_args()
    dist.init_process_group("gloo")
    policy = Policy()
    total = torch.zeros(1)
    for step in range(20):
        loss = random.random()
        if policy.is_due(step, loss=loss):
            dist.all_reduce(total)
    if evaluates(args, random.random()):
        dist.all_reduce(total)
    dist.barrier()
    dist.destroy_process_group()


main()
