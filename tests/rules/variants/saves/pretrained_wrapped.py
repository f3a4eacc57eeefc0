"""A pretrained model that is sharded: what saves it asks for its state."""

import torch.distributed as dist
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from transformers import AutoModelForCausalLM

dist.init_process_group("nccl")
model = FSDP(AutoModelForCausalLM.from_pretrained("gpt2"))
if dist.get_rank() == 0:  # expect: DST407
    model.save_pretrained("out")
dist.barrier()
