import torch
import torch.distributed as dist

dist.init_process_group("gloo")
try:
    convert(1)
except ValueError as error:
    dist.barrier()  # expect: DST510
    raise
dist.all_gather_object(found, item)
dist.barrier()
