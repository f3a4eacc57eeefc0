import argparse
import os

import torch
import torch.distributed as dist

parser = argparse.ArgumentParser()
parser.add_argument("--output")
parser.add_argument("--gpu", type=int)
args = parser.parse_args()


def train(model, batches):
    for batch in batches:
        output = model(batch.cuda(args.gpu))
        output.sum().backward()


def main(model, batches):
    dist.init_process_group("nccl")
    torch.cuda.set_device(args.gpu)
    directory = os.path.join("runs", args.output)
    os.mkdir(directory)  # expect: DST414
    train(model, batches)


if __name__ == "__main__":
    main(torch.nn.Linear(2, 1).cuda(), [])
