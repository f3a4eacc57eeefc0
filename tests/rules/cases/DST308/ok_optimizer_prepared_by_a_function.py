import torch
from accelerate import Accelerator


def empty(optimizer):
    optimizer.zero_grad()


def ready(accelerator, optimizer):
    return accelerator.prepare(optimizer)


def prepared(net, loader, args):
    accelerator = Accelerator(gradient_accumulation_steps=args.steps)
    model, loader = accelerator.prepare(net, loader)
    adam = torch.optim.AdamW(model.parameters(), lr=1e-4)
    adam = ready(accelerator, adam)
    for x in loader:
        with accelerator.accumulate(model):
            accelerator.backward(model(x).mean())
            adam.step()
            empty(adam)
