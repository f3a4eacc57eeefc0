import torch
from accelerate import Accelerator


def main(net, loader, args):
    accelerator = Accelerator(gradient_accumulation_steps=args.steps)
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-4)
    model, optimizer, loader = accelerator.prepare(net, optimizer, loader)
    for x in loader:
        with accelerator.accumulate(model):
            accelerator.backward(model(x).mean())
            optimizer.step()
            optimizer.zero_grad()


def one_by_one(net, loader):
    accelerator = Accelerator(gradient_accumulation_steps=4)
    model = accelerator.prepare(net)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
    optimizer = accelerator.prepare_optimizer(optimizer)
    for x in loader:
        with accelerator.accumulate(model):
            accelerator.backward(model(x).mean())
            optimizer.step()
            optimizer.zero_grad()


def no_window(net, loader):
    accelerator = Accelerator()
    model = accelerator.prepare(net)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
    for x in loader:
        with accelerator.accumulate(model):
            accelerator.backward(model(x).mean())
            optimizer.step()
            optimizer.zero_grad()


def guarded(net, loader):
    accelerator = Accelerator(gradient_accumulation_steps=4)
    model = accelerator.prepare(net)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
    for x in loader:
        with accelerator.accumulate(model):
            accelerator.backward(model(x).mean())
            if accelerator.sync_gradients:
                optimizer.step()
                optimizer.zero_grad()
