import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

net = DDP(net)
iterate_loader(net)
torch.save(net.state_dict(), "a.pt")  # expect: DST401
