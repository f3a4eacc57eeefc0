import torch
from accelerate import Accelerator

N = 8
acc = Accelerator(gradient_accumulation_steps=N)


def one(model, batch):
    loss = model(batch).mean()
    scaled = loss.div(N)  # expect: DST627
    acc.backward(scaled)


def other(model, batch):
    loss = torch.div(model(batch).mean(), N)  # expect: DST627
    acc.backward(loss)


def third(model, batch):
    loss = model(batch).mean()
    loss.div_(N)  # expect: DST627
    acc.backward(loss)
