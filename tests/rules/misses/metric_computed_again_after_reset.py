"""After `reset`, a metric is computed by all ranks once more; the value from before is gone."""
# needs: torchmetrics
# effect: hang

import torch
import torch.distributed as dist
from torchmetrics import MeanMetric

dist.init_process_group("gloo")
rank = dist.get_rank()
metric = MeanMetric()
metric(torch.ones(4))
print("mean =", float(metric.compute()))
metric.reset()
metric(torch.ones(4))
if rank == 0:
    print(float(metric.compute()))  # expect: DST116
dist.barrier()
dist.destroy_process_group()
