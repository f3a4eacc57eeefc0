"""Each rank has all of the model."""

import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from transformers import AutoModelForCausalLM, AutoTokenizer

dist.init_process_group("nccl")
tokenizer = AutoTokenizer.from_pretrained("gpt2")
model = DDP(AutoModelForCausalLM.from_pretrained("gpt2"))
if dist.get_rank() == 0:
    model.module.save_pretrained("out")
    tokenizer.save_pretrained("out")
dist.barrier()
