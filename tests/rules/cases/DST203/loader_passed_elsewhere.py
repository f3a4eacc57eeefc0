from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler

sampler = DistributedSampler(data)
loader = DataLoader(data, sampler=sampler)
from mine import train

for epoch in range(9):
    train(loader, epoch)
