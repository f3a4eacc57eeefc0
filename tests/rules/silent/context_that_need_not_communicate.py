"""Contexts whose arguments say that they do not communicate are entered on one rank."""
# needs: accelerate, torchmetrics

import torch
from accelerate import Accelerator
from torchmetrics import MeanMetric

accelerator = Accelerator()
metric = MeanMetric()
metric.update(torch.ones(4))
if accelerator.is_main_process:
    with metric.sync_context(should_sync=False, should_unsync=False):
        print("on rank 0:", float(metric.mean_value))
    with accelerator.split_between_processes(torch.arange(4.0)) as mine:
        print("of rank 0:", mine.tolist())
accelerator.wait_for_everyone()
