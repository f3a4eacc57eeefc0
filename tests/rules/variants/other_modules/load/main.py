import torch
from accelerate import Accelerator

from encoders import load_encoders

accelerator = Accelerator()
teacher = load_encoders("mocov3", accelerator.device)
model = accelerator.prepare(torch.nn.Linear(3, 3))
