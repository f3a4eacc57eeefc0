"""A function goes backward and returns the loss, which the loop of its caller keeps."""

import torch
import torch.nn.functional as F
from tqdm import tqdm


def train_step(model, batch, opt):
    loss = model(batch).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    return loss


def bound(model, loader, opt, epochs):
    for epoch in range(epochs):
        total = 0.0
        for batch in loader:
            loss = train_step(model, batch, opt)
            total += loss  # expect: DST307
        print(total / len(loader))


def list(model, loader, opt):
    losses = []
    for batch in tqdm(loader):
        value = train_step(model, batch, opt)
        losses.append(value)  # expect: DST307
    return losses


class Trainer:
    def step(self, x, y):
        out = self.model(x)
        rec, kl = F.mse_loss(out, y), self.model.kl()
        loss = rec + kl
        self.accelerator.backward(loss)
        self.opt.step()
        return loss, kl

    def epoch(self):
        total_kl = 0
        for x, y in self.loader:
            loss, kl = self.step(x, y)
            total_kl = total_kl + kl  # expect: DST307
            self.losses.append(loss)  # expect: DST307
