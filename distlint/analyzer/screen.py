"""A look at the bytes: files in which ranks cannot part are not parsed at all."""

from __future__ import annotations

import re

_WORLD = re.compile(
    rb"torch|accelerat|deepspeed|lightning|transformers|ignite|horovod|colossalai|megatron|composer"
    rb"|fairscale|mmengine|mmcv|detectron2|ray\.train|ddp_model|ddp_model|fsdp_model|zero3_model"
)
_MEETING = re.compile(
    rb"barrier|all_reduce|all_gather|allreduce|allgather|broadcast|reduce_scatter|all_to_all"
    rb"|gather|\breduce\b|scatter|new_group|init_process_group|init_device_mesh|backward"
    rb"|DistributedDataParallel|DDP|FSDP|FullySharded|fully_shard|ddp|fsdp|deepspeed|zero3"
    rb"|accelerat|wait_for_everyone|save_checkpoint|save_state|state_dict|main_process_first"
    rb"|lightning|torchmetrics|idist|hvd|xm\.|rendezvous|synchronize|consolidate|dcp\."
    rb"|should_training_stop|is_world_process_zero|save_model|log_metrics|_trigger|set_breakpoint"
)


def worth_analysing(data: bytes) -> bool:
    """Could the file hold a collective at all?"""
    return _WORLD.search(data) is not None and _MEETING.search(data) is not None
