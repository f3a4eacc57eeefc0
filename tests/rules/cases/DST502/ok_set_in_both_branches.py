import os

import torch
import torch.distributed as dist


def main(args):
    if args.distributed:
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
        dist.init_process_group("nccl")
    else:
        torch.cuda.set_device(args.gpu)
    return torch.nn.Linear(2, 2).cuda()


main(None)
