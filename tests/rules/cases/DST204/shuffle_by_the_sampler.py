from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler

sampler = DistributedSampler(data)
loader = DataLoader(data, sampler=sampler)
shuffle = sampler is None
DataLoader(data, shuffle=shuffle, sampler=sampler)
