import argparse

import torch


def answer(args):
    torch.save(args.size, "answers.pt")  # expect: DST406


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", type=int)
    parser.add_argument("--local_rank", type=int, default=-1)
    args = parser.parse_args()
    print(args.local_rank)
    answer(args)
