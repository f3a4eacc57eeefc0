import torch
import torch.distributed as dist
from helper import repeat
from torch.nn.parallel import DistributedDataParallel as DDP


def main(args, net, loader):
    dist.init_process_group("nccl")
    model = DDP(net)

    def epoch(number):
        for inputs in loader:
            model(inputs).mean().backward()
        if dist.get_rank() == 0:  # expect: DST101
            dist.barrier()

    repeat(epoch, args.epochs, args.verbose)


main(*make())
