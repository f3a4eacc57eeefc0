from accelerate import Accelerator
from torchvision.datasets import CIFAR10

accelerator = Accelerator()
with accelerator.local_main_process_first():
    data = CIFAR10("data", download=True)
accelerator.print(data)
