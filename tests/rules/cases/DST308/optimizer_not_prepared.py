import torch
from accelerate import Accelerator


def main(net, loader, args):
    accelerator = Accelerator(gradient_accumulation_steps=args.steps)
    model, loader = accelerator.prepare(net, loader)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    scheduler = torch.optim.lr_scheduler.ConstantLR(optimizer)
    for x in loader:
        with accelerator.accumulate(model):
            accelerator.backward(model(x).mean())
            optimizer.step()  # expect: DST308
            scheduler.step()
            optimizer.zero_grad()
