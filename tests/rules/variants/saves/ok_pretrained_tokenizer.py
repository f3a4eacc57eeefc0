"""A tokenizer and a configuration are no sharded state."""

import torch.distributed as dist
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from transformers import AutoModelForCausalLM, AutoTokenizer

dist.init_process_group("nccl")
tokenizer = AutoTokenizer.from_pretrained("gpt2")
model = FSDP(AutoModelForCausalLM.from_pretrained("gpt2"))
if dist.get_rank() == 0:
    tokenizer.save_pretrained("out")
    model.module.config.save_pretrained("out")
dist.barrier()
