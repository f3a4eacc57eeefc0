"""The function or method that clips is called before the backward pass."""

import torch


def clip_all(model, limit):
    torch.nn.utils.clip_grad_norm_(model.parameters(), limit)


def helper_before(model, loader, opt):
    for x in loader:
        loss = model(x).mean()
        opt.zero_grad()
        clip_all(model, 1.0)  # expect: DST615
        loss.backward()
        opt.step()


class Trainer:
    def clip(self):
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)

    def method(self):
        for x in self.loader:
            loss = self.model(x).mean()
            self.opt.zero_grad()
            self.clip()  # expect: DST615
            loss.backward()
            self.opt.step()


def two_ways(model, limit):
    if limit > 1:
        torch.nn.utils.clip_grad_value_(model.parameters(), limit)
    else:
        torch.nn.utils.clip_grad_norm_(model.parameters(), limit)


def bounded(model, limit):
    two_ways(model, limit=limit)


def called_deeper(accelerator, model, loader, opt):
    for x in loader:
        loss = model(x).mean()
        opt.zero_grad()
        bounded(model, 2)  # expect: DST615
        accelerator.backward(loss)
        opt.step()
