"""The module inside of the wrapper is saved: its parts are wrapped, too."""

import functools

import torch.distributed as dist
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from torch.distributed.fsdp.wrap import transformer_auto_wrap_policy
from transformers import AutoModelForCausalLM
from transformers.models.gpt2.modeling_gpt2 import GPT2Block

dist.init_process_group("nccl")
policy = functools.partial(transformer_auto_wrap_policy, transformer_layer_cls={GPT2Block})
model = FSDP(AutoModelForCausalLM.from_pretrained("gpt2"), auto_wrap_policy=policy)
rank = dist.get_rank()
if rank == 0:  # expect: DST407
    unwrapped = model.module
    unwrapped.save_pretrained("out")
dist.barrier()
