import torch
import torch.distributed as dist
from helper import Loop
from torch.nn.parallel import DistributedDataParallel as DDP


def main(args, net, loader):
    dist.init_process_group("nccl")
    model = DDP(net)

    def epoch(number):
        for inputs in loader:
            model(inputs).mean().backward()

    def report(number):
        if dist.get_rank() == 0:  # expect: DST101
            dist.barrier()

    Loop([epoch, report], args.epochs).go()


main(*make())
