import time
import torch
from accelerate import Accelerator

accelerator = Accelerator()
x = torch.ones(1)
def train():
    for epoch in range(3):
        for step in range(9):
            accelerator.reduce(x)
            if time.time() < 9:
                print(step)
            else:
                return step


train()
