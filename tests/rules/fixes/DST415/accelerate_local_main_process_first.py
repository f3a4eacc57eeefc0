from accelerate import Accelerator
from torchvision.datasets import CIFAR10

accelerator = Accelerator()
data = CIFAR10("data", download=True)
accelerator.print(data)
