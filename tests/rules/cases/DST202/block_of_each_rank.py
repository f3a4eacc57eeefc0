import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, Subset

dist.init_process_group("nccl")
torch.cuda.set_device(dist.get_rank() % torch.cuda.device_count())
rank, world_size = dist.get_rank(), dist.get_world_size()
model = DDP(torch.nn.Linear(3, 1).cuda())
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
data = load()
size = len(data) // world_size
loader = DataLoader(data[rank * size : (rank + 1) * size], batch_size=4, shuffle=True)
for batch in loader:
    model(batch.cuda()).mean().backward()
    optimizer.step()
    optimizer.zero_grad()
