import torch
from torch.nn.parallel import DistributedDataParallel
from parts import Parts

parts = Parts(4)
model = DistributedDataParallel(parts.model)  # expect: DST624
teacher = DistributedDataParallel(parts.teacher)
