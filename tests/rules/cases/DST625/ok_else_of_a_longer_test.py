import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


class Trainer:
    def __init__(self, net, rank):
        self.rank = rank
        self.model = DDP(net)

    def train(self, loader):
        for batch in loader:
            self.model(batch).mean().backward()
            self.optimizer.step()
            if hasattr(self, "scheduler") and self.rank == 0:
                self.scheduler.step()
                print(self.scheduler.get_last_lr())
            elif hasattr(self, "scheduler"):
                self.scheduler.step()


def main(net, loader):
    dist.init_process_group("nccl")
    Trainer(net, dist.get_rank()).train(loader)
