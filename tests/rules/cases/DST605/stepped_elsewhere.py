"""The step is in a caller, in a function that is called, in the class, or around."""

import torch


def forward_backward(model, x):
    with torch.autocast("cuda", dtype=torch.float16):  # expect: DST605
        loss = model(x).mean()
    loss.backward()
    return loss


def train(model, loader, optimizer):
    for x in loader:
        forward_backward(model, x)
        optimizer.step()


def update(optimizer):
    optimizer.step()
    optimizer.zero_grad()


def with_helper(model, loader, optimizer):
    for x in loader:
        with torch.autocast("cuda", dtype=torch.float16):  # expect: DST605
            loss = model(x).mean()
        loss.backward()
        update(optimizer)


class Trainer:
    def backward(self, x):
        with torch.autocast("cuda", dtype=torch.float16):  # expect: DST605
            loss = self.model(x).mean()
        loss.backward()

    def update(self):
        self.optimizer.step()


def by_closure(model, x, optimizer):
    def closure():
        optimizer.zero_grad()
        with torch.autocast("cuda", dtype=torch.float16):  # expect: DST605
            loss = model(x).mean()
        loss.backward()
        return loss

    optimizer.step(closure)


def inner(model, x):
    with torch.autocast("cuda", dtype=torch.float16):  # expect: DST605
        loss = model(x).mean()
    loss.backward()


def middle(model, batch):
    for x in batch:
        inner(model, x)


def outer(model, loader, optimizer):
    for batch in loader:
        middle(model, batch)
        optimizer.step()
