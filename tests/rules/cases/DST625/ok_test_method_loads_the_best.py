import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


class Trainer:
    def __init__(self, net):
        self.rank = dist.get_rank()
        self.model = DDP(net)
        self.optimizer = torch.optim.Adam(self.model.parameters())

    def train(self, loader):
        for batch in loader:
            self.optimizer.zero_grad()
            self.model(batch).mean().backward()
            self.optimizer.step()

    def restore_best(self):
        if self.rank == 0:
            self.model.module.load_state_dict(torch.load("best.pt"))

    def test(self, loader):
        if self.rank == 0:
            self.model.module.load_state_dict(torch.load("best.pt"))
            print(sum(self.model.module(batch).sum() for batch in loader))


def main(loader, test_loader):
    dist.init_process_group("gloo")
    trainer = Trainer(torch.nn.Linear(2, 1))
    trainer.train(loader)
    trainer.restore_best()
    trainer.test(test_loader)
