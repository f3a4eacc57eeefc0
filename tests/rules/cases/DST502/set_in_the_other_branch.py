import os

import torch
import torch.distributed as dist


def begin(args):
    if "RANK" not in os.environ:
        torch.cuda.set_device(args.gpu)
        return False
    dist.init_process_group(backend="nccl")  # expect: DST502
    return True


def main(args):
    several = begin(args)
    model = torch.nn.Linear(2, 2).cuda()
    if several:
        model = torch.nn.parallel.DistributedDataParallel(model)
    return model


if __name__ == "__main__":
    main(None)
