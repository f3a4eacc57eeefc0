import torch
import torch.distributed as dist

print(dist.get_world_size())
dist.barrier()
nodes = total_world_size // torch.cuda.device_count()
