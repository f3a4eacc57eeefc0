import torch
from accelerate import Accelerator

from helpers import replicate


def prepared(accelerator, model, optimizer):
    return accelerator.prepare(model, optimizer)


accelerator = Accelerator()
teacher = replicate(torch.nn.Linear(2, 1).to(accelerator.device), accelerator.local_process_index)
model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = prepared(accelerator, model, optimizer)
accelerator.backward((model(torch.ones(1, 2)) - teacher(torch.ones(1, 2))).sum())
optimizer.step()
