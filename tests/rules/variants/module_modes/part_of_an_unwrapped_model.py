import torch
from accelerate import Accelerator
import torch.distributed as dist


class Quantizer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.usage = torch.nn.Linear(2, 2)

    def forward(self, x):
        if self.training:
            dist.all_reduce(x)
        return self.usage(x)


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.quantizer = Quantizer()

    def forward(self, x):
        return self.quantizer(x)


def reconstruct(model, accelerator, images):
    model.eval()
    with torch.no_grad():
        accelerator.unwrap_model(model).quantizer(images)
    model.train()


def main():
    accelerator = Accelerator()
    model = accelerator.prepare(Net())
    for step in range(10):
        if step % 5 == 0 and accelerator.is_main_process:
            reconstruct(model, accelerator, torch.ones(1, 2))
        accelerator.wait_for_everyone()


main()
