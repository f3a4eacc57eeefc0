import torch
from accelerate import Accelerator


def empty(optimizer):
    optimizer.zero_grad()


def prepared(net, loader, args):
    accelerator = Accelerator(gradient_accumulation_steps=args.steps)
    model, loader = accelerator.prepare(net, loader)
    adam = torch.optim.AdamW(model.parameters(), lr=1e-4)
    for x in loader:
        with accelerator.accumulate(model):
            accelerator.backward(model(x).mean())
            adam.step()  # expect: DST308
            empty(adam)
