import torch


class Base:
    def __init__(self, steps):
        self.steps = steps

    def noised(self, x):
        noise = torch.randn_like(x)
        return x + noise, noise


class Ddpm(Base):
    pass


class Ddim(Base):
    pass


def make(kind, steps):
    if kind == "ddpm":
        sampler = Ddpm(steps)
    else:
        sampler = Ddim(steps)
    return sampler
