"""The twin: a folder for each rank, and a run of one process without a group."""

import torch.distributed as dist


def keep(model, out):
    dist.init_process_group("nccl")
    model.save_pretrained(f"{out}/{dist.get_rank()}")


def alone(model, tokenizer, out):
    model.save_pretrained(out)
    tokenizer.save_pretrained(out)
