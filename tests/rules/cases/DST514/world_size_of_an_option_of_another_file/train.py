import argparse

import torch
import torch.multiprocessing as mp
from trainer import Trainer


def main(args):
    mp.spawn(Trainer(args).train, nprocs=torch.cuda.device_count())


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--world_size", type=int, default=2)
    main(parser.parse_args())
