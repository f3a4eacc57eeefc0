import torch
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader

torch.distributed.init_process_group("nccl")
model = DDP(net)
count = model.module.vision.get_num_patches()
for x in loader:
    loss = run(x, model, patches=count)
    loss.backward()
