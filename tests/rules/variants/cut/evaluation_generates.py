"""A sharded model generates for the prompts of this rank."""

import torch
import torch.distributed as dist
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from transformers import AutoModelForCausalLM


def main(prompts, batch_size):
    dist.init_process_group("nccl")
    rank, world = dist.get_rank(), dist.get_world_size()
    model = FSDP(AutoModelForCausalLM.from_pretrained("gpt2"))
    per = len(prompts) // world + 1
    mine = prompts[rank * per : (rank + 1) * per]
    for start in range(0, len(mine), batch_size):  # expect: DST113
        model.generate(mine[start : start + batch_size], max_new_tokens=8)
