import time
import torch
from accelerate import Accelerator

accelerator = Accelerator()
x = torch.ones(1)
def train():
    for epoch in range(3):
        for step in range(9):
            accelerator.reduce(x)
            if time.time() >= 9:
                accelerator.set_trigger()
            if not accelerator.check_trigger():
                print(step)
            else:
                return step


train()
