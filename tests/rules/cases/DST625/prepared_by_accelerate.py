import torch
from accelerate import Accelerator


def main(loader, epochs):
    accelerator = Accelerator()
    model = torch.nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 10)
    model, optimizer, loader, scheduler = accelerator.prepare(model, optimizer, loader, scheduler)
    for epoch in range(epochs):
        for batch in loader:
            optimizer.zero_grad()
            accelerator.backward(model(batch).mean())
            optimizer.step()
            if accelerator.is_main_process:
                scheduler.step()  # expect: DST625
                accelerator.log({"lr": scheduler.get_last_lr()[0]})
