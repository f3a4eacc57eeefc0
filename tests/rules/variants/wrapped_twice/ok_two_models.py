import torch
from accelerate import Accelerator
from torch.nn.parallel import DistributedDataParallel

accelerator = Accelerator()
student = torch.nn.Linear(2, 1).to(accelerator.device)
teacher = DistributedDataParallel(torch.nn.Linear(2, 1).to(accelerator.device))
teacher.eval()
student = accelerator.prepare(student)
print(sum(each.numel() for each in teacher.parameters()))
