import torch.distributed as dist
from helpers import meet, meet_if, tell


def prepare(raw, tokenize):
    if dist.get_rank() == 0:
        raw.map(tokenize, batched=True, num_proc=8)  # expect: DST121
    meet()
    return raw.map(tokenize, batched=True, num_proc=8)


def alone(raw, tokenize):
    if dist.get_rank() == 0:
        raw.map(tokenize, batched=True, num_proc=8)
    tell(dist.get_rank())
    meet_if(False)
