"""The other ranks return before the model is saved."""

import torch.distributed as dist
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from transformers import AutoModel


def save(model, folder):
    if dist.get_rank() != 0:
        return  # expect: DST407
    model.save_pretrained(folder, safe_serialization=True)


dist.init_process_group("nccl")
model = FSDP(AutoModel.from_pretrained("bert-base-uncased"))
save(model, "out")
dist.barrier()
