import argparse

import torch
import torch.distributed as dist
from torch import hub

ARCHS = ["vit_small", *torch.hub.list("facebookresearch/xcit:main")]  # expect: DST415


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--arch", choices=ARCHS)
    parser.add_argument("--help-of", default=torch.hub.help("a/b", "net"))  # expect: DST415
    parser.add_argument("--more", choices=torch.hub.list("a/b"))
    return parser.parse_args()


class Teacher:
    def __init__(self, arch):
        self.net = torch.hub.load("facebookresearch/deit:main", arch)  # expect: DST415
        self.other = hub.load(repo_or_dir="facebookresearch/dinov2", model=arch)  # expect: DST415


def main(args):
    dist.init_process_group("nccl")
    Teacher(args.arch)


main(arguments())
