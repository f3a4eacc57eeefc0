import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


class Trainer:
    def __init__(self, net, args):
        self.args = args
        self.model = DDP(net)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)
        if args.resume and args.rank == 0:
            self.resume(args.resume)  # expect: DST625

    def resume(self, path):
        checkpoint = torch.load(path, map_location="cpu")
        self.model.module.load_state_dict(checkpoint["model"])
        self.optimizer.load_state_dict(checkpoint["optimizer"])

    def train(self, loader):
        for batch in loader:
            self.optimizer.zero_grad()
            self.model(batch).mean().backward()
            self.optimizer.step()


def main(args, loader):
    dist.init_process_group("nccl")
    trainer = Trainer(torch.nn.Linear(2, 1), args)
    trainer.train(loader)
