"""A function of the file declares the option for the rank."""

import argparse
import os


def add_options(parser):
    parser.add_argument("--local_rank", type=int, default=0)


def main():
    parser = argparse.ArgumentParser()
    add_options(parser)
    args = parser.parse_args()
    os.makedirs("out")  # expect: DST414
    print("device", args.local_rank)
    return args
