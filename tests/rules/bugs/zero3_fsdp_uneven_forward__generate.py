"""generate() of a ZeRO-3 engine ends at another length on each rank."""
# static: needs deepspeed, transformers and a GPU
# needs: deepspeed, transformers

import deepspeed
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

config = {"train_micro_batch_size_per_gpu": 1, "zero_optimization": {"stage": 3}}
tokenizer = AutoTokenizer.from_pretrained("gpt2")
actor = AutoModelForCausalLM.from_pretrained("gpt2")
engine, *_ = deepspeed.initialize(model=actor, config=config)
prompts = tokenizer(["Once upon a time"], return_tensors="pt").input_ids.to(engine.device)
with torch.no_grad():
    texts = engine.module.generate(prompts, max_new_tokens=64, synced_gpus=False)  # expect: DST113
print(tokenizer.batch_decode(texts))
