import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


class Trainer:
    def __init__(self, net, loader, args):
        self.args = args
        self.loader = loader
        self.model = DDP(net) if args.distributed else net
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)

    def loss(self, batch):
        return self.model(batch).mean()

    def train(self):
        for index, batch in enumerate(self.loader):
            loss = self.model(batch).mean() / self.args.accum
            loss.backward()  # expect: DST308
            if (index + 1) % self.args.accum == 0 or index + 1 == len(self.loader):
                self.optimizer.step()
                self.optimizer.zero_grad()
