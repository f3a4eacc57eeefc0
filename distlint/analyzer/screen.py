"""A look at the bytes: files in which ranks cannot part are not parsed at all."""

from __future__ import annotations

import re

_WORLD = re.compile(
    rb"torch|accelerat|deepspeed|lightning|transformers|ignite|horovod|colossalai|megatron|composer"
    rb"|fairscale|mmengine|mmcv|detectron2|ray\.train|ddp_model|fsdp_model|zero3_model"
)
_MEETING = re.compile(
    rb"barrier|all_reduce|all_gather|allreduce|allgather|broadcast|reduce_scatter|all_to_all"
    rb"|gather|\breduce\b|scatter|new_group|init_process_group|init_device_mesh|backward"
    rb"|DistributedDataParallel|DDP|FSDP|FullySharded|fully_shard|ddp|fsdp|deepspeed|zero3"
    rb"|accelerat|wait_for_everyone|save_checkpoint|save_state|state_dict|main_process_first"
    rb"|lightning|torchmetrics|idist|hvd|xm\.|rendezvous|synchronize|consolidate|dcp\."
    rb"|DistributedSampler|IterableDataset|split_dataset_by_node"
    rb"|should_training_stop|is_world_process_zero|save_model|log_metrics|_trigger|set_breakpoint"
    rb"|torch\.load\(|torch\.save\(|local_rank"
    rb"|autocast\(|GradScaler|torch\.compile\(|_dynamo|detect_anomaly|CUDA_VISIBLE_DEVICES"
    rb"|preprocess_logits_for_metrics|get_train_dataloader|load_checkpoint\("
    rb"|get_rank\(|is_main_process|is_master|is_primary|is_rank_zero|is_rank_0|\brank *[=!]= *0"
    rb"|MASTER_PORT|log\((?:torch|F)\.softmax|\bhash\(\w+\) *%"  # for rules about one file
)


_TELLING = re.compile(
    rb"rank|RANK|world_size|WORLD_SIZE|main_process|is_main|is_master|is_primary|is_chief"
    rb"|torch\.distributed|import distributed|\bdist\.|all_reduce|all_gather|allreduce|barrier"
    rb"|broadcast_object|new_group|accelerat|deepspeed|torchmetrics|lightning|DataParallel|DDP\b|FSDP"
    rb"|fully_shard|sys\.exit|os\._exit|\bsignal\b|^\s*(?:global|nonlocal) |horovod|\bhvd\b|idist"
    rb"|xm\.|\.backward\(|random\.random|time\.time|should_stop|is_world_process",
    re.MULTILINE,
)


def worth_following(data: bytes) -> bool:
    """Could an imported file tell ranks apart, or let them meet?"""
    return _TELLING.search(data) is not None


def worth_analysing(data: bytes) -> bool:
    """Could the file hold a collective, or what a rule about one file speaks of?"""
    return _WORLD.search(data) is not None and _MEETING.search(data) is not None
