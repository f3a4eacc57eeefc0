import torch
from accelerate import Accelerator
from accelerate.utils import set_seed

accelerator = Accelerator()
set_seed(42, device_specific=False)  # expect: DST216


def train(model, loader, optimizer):
    for images, _ in loader:
        with accelerator.accumulate(model):
            z = torch.randn(images.size(0), 128, device=images.device)
            loss = -model(z).mean()
            accelerator.backward(loss)
            optimizer.step()
