"""The parts are sharded in place, and the model is saved as it is."""

import torch.distributed as dist
from torch.distributed.fsdp import fully_shard
from transformers import AutoModelForCausalLM

dist.init_process_group("nccl")
model = AutoModelForCausalLM.from_pretrained("gpt2")
for layer in model.transformer.h:
    fully_shard(layer)
fully_shard(model)
if dist.get_rank() == 0:
    model.save_pretrained("out")
dist.barrier()
