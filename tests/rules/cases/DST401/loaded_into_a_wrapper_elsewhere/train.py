import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

net = DDP(net)
torch.save(net.state_dict(), "final.pth")
