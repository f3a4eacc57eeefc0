import torch
from torch.nn.parallel import DistributedDataParallel as DDP


class Trainer:
    def __init__(self, critic, optim):
        self.critic, self.optim = DDP(critic), optim

    def run(self, loader, every):
        for step, real in enumerate(loader):
            self.optim.zero_grad()
            self.critic(real).mean().backward()
            self.optim.step()
            if step % every == 0:
                self.optim.zero_grad()
                self.penalty(real).backward()
                self.optim.step()

    def penalty(self, real):
        return self.critic(real).square().mean()
