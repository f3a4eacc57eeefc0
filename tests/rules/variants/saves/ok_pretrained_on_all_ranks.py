"""All ranks take part, and one of them is told to write."""

import torch.distributed as dist
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from transformers import AutoModelForCausalLM

dist.init_process_group("nccl")
model = FSDP(AutoModelForCausalLM.from_pretrained("gpt2"))
model.save_pretrained("out", is_main_process=dist.get_rank() == 0)
dist.barrier()
