"""A tokenizer is trained by rank 0 and loaded by all."""

import os

import torch.distributed as dist
from tokenizers import Tokenizer, models, trainers


def tokenizer_of(texts, path):
    if not os.path.exists(path) and dist.get_rank() == 0:
        tokenizer = Tokenizer(models.BPE())
        tokenizer.train_from_iterator(texts, trainers.BpeTrainer())
        tokenizer.save(path)
    return Tokenizer.from_file(path)  # expect: DST408


def main(texts):
    dist.init_process_group("gloo")
    return tokenizer_of(texts, "tokenizer.json")
