import torch
from torch.nn.parallel import DistributedDataParallel as DDP


def train(generator, critic, g_opt, c_opt, loader):
    generator, critic = DDP(generator), DDP(critic)
    for i, real in enumerate(loader):
        c_opt.zero_grad()
        fake = generator(torch.randn(8, 4))
        loss = critic(fake.detach()).mean() - critic(real).mean()
        loss.backward()
        c_opt.step()
        if i % 5 == 0:
            g_opt.zero_grad()
            g_loss = -critic(generator(torch.randn(8, 4))).mean()
            g_loss.backward()
            g_opt.step()
