import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

net = DDP(net)
load_weights(net.module if many else net)
torch.save(net.state_dict(), "a.pt")  # expect: DST401
