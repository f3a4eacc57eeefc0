import torch
from joining import setup
from u import ensure_dir


def main(args):
    setup(args)
    ensure_dir("saved")
