"""A copy that rank 0 has for itself gets the state of all."""

import torch.distributed as dist
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from transformers import AutoConfig, AutoModelForCausalLM

dist.init_process_group("nccl")
model = FSDP(AutoModelForCausalLM.from_pretrained("gpt2"))
state = model.state_dict()
if dist.get_rank() == 0:
    whole = AutoModelForCausalLM.from_config(AutoConfig.from_pretrained("gpt2"))
    whole.load_state_dict(state)
    whole.save_pretrained("out")
dist.barrier()
