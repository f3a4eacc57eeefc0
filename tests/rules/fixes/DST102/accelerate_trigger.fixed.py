import time
import torch
from accelerate import Accelerator

accelerator = Accelerator()
x = torch.ones(1)
while True:
    accelerator.reduce(x)
    if time.time() > 9:
        accelerator.set_trigger()
    if accelerator.check_trigger():
        print("late")
        break
