from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler

sampler = DistributedSampler(data)
loader = DataLoader(data, sampler=sampler)
from accelerate import Accelerator

accelerator = Accelerator()
dispatch_batches = True
accelerator.prepare(loader)
