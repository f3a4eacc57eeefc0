import torch
import torch.distributed as dist


def pick(index):
    torch.cuda.set_device(index)


def main(args):
    if args.distributed:
        pick(args.local_rank)
        dist.init_process_group("nccl")
    else:
        pick(args.gpu)
    return torch.nn.Linear(2, 2).cuda()


main(None)
