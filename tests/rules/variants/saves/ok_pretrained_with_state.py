"""All ranks gather the state, and one writes it."""

import torch.distributed as dist
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from transformers import AutoModelForCausalLM

dist.init_process_group("nccl")
model = FSDP(AutoModelForCausalLM.from_pretrained("gpt2"))
state = model.state_dict()
if dist.get_rank() == 0:
    model.save_pretrained("out", state_dict=state)
dist.barrier()
