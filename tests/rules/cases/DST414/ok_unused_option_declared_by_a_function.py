"""A function of the file declares the option for the rank, which nothing reads."""

import argparse
import os


def add_options(parser):
    parser.add_argument("--local_rank", type=int, default=0)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lr", type=float)
    add_options(parser)
    args = parser.parse_args()
    os.makedirs("out")
    print("step", args.lr)
