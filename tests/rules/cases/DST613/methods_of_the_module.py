import torch
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader

torch.distributed.init_process_group("nccl")
model = DDP(net)
core = model.module
for x in xs:
    enc = core.encode(x)  # expect: DST613
    out = core.decode(enc)
    loss = f(out)
    loss.backward()
