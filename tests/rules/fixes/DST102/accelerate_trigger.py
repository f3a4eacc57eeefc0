import time
import torch
from accelerate import Accelerator

accelerator = Accelerator()
x = torch.ones(1)
while True:
    accelerator.reduce(x)
    if time.time() > 9:
        print("late")
        break
