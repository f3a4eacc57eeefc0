"""With ZeRO-3 the module of the engine has shards, which are gathered by all ranks."""

import deepspeed
import torch.distributed as dist
from transformers import AutoModelForCausalLM

config = {"train_batch_size": 8, "zero_optimization": {"stage": 3}}
model = AutoModelForCausalLM.from_pretrained("gpt2")
engine, _, _, _ = deepspeed.initialize(model=model, config=config)
if dist.get_rank() == 0:  # expect: DST407
    engine.save_16bit_model("out")
dist.barrier()
