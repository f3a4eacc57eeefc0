import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel as DDP

from noise import noised


def fit(net, loader):
    model = DDP(net)
    for x in loader:
        y, eps = noised(x)
        F.mse_loss(model(y), eps).backward()
