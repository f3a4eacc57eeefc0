"""An engine of DeepSpeed is an entry of a dict."""

import deepspeed
import torch
import torch.distributed as dist

deepspeed.init_distributed()
engines = {}
for name in ("actor", "critic"):
    engine, optimizer, _, _ = deepspeed.initialize(model=torch.nn.Linear(4, 4), config="ds.json")
    engines[name] = engine
if dist.get_rank() == 0:  # expect: DST407
    engines["actor"].save_checkpoint("out")
dist.barrier()
