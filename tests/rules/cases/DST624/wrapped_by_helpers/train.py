import torch
from accelerate import Accelerator

from helpers import replicate


def prepared(accelerator, model, optimizer):
    return accelerator.prepare(model, optimizer)  # expect: DST624


accelerator = Accelerator()
model = torch.nn.Linear(2, 1).to(accelerator.device)
model = replicate(model, accelerator.local_process_index)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = prepared(accelerator, model, optimizer)
accelerator.backward(model(torch.ones(1, 2)).sum())
optimizer.step()
