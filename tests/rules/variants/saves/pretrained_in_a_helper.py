"""A helper that only the main process calls saves the model."""

import os

import torch.distributed as dist
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from transformers import AutoModel, AutoTokenizer


def export(net, tokenizer, folder, epoch):
    target = os.path.join(folder, f"epoch_{epoch}")
    os.makedirs(target, exist_ok=True)
    net.save_pretrained(target)
    tokenizer.save_pretrained(target)


def main(args):
    dist.init_process_group("nccl")
    tokenizer = AutoTokenizer.from_pretrained(args.name)
    net = FSDP(AutoModel.from_pretrained(args.name))
    for epoch in range(args.epochs):
        if dist.get_rank() == 0:  # expect: DST407
            export(net, tokenizer, args.folder, epoch)
        dist.barrier()
