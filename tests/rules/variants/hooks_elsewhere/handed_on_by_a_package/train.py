import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from lib import Runner


class Mine(Runner):
    def __init__(self, args, net, loader):
        self.args, self.loader = args, loader
        self.model = DDP(net)

    def run_epoch(self, epoch):
        for inputs in self.loader:
            loss = self.model(inputs).mean()
            loss.backward()
        if dist.get_rank() == 0:  # expect: DST101
            dist.barrier()


def main(args, net, loader):
    dist.init_process_group("nccl")
    Mine(args, net, loader).run()


main(*make())
