"""The adapters of a model whose frozen weights are sharded."""

import torch.distributed as dist
from peft import LoraConfig, get_peft_model
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from transformers import AutoModelForCausalLM

dist.init_process_group("nccl")
base = AutoModelForCausalLM.from_pretrained("gpt2")
model = FSDP(get_peft_model(base, LoraConfig(r=8)), use_orig_params=True)
is_main = dist.get_rank() == 0
if is_main:  # expect: DST407
    model.save_pretrained("adapters")
dist.barrier()
