"""A dataset keeps its items in a cache that rank 0 writes."""

import os

import torch
import torch.distributed as dist
from torch.utils.data import Dataset


class Tokens(Dataset):
    def __init__(self, texts, tokenizer, folder):
        self.path = os.path.join(folder, "tokens.pt")
        if not os.path.exists(self.path):
            if dist.get_rank() == 0:
                torch.save([tokenizer(text) for text in texts], self.path)
        self.items = torch.load(self.path)  # expect: DST408

    def __len__(self):
        return len(self.items)

    def __getitem__(self, index):
        return self.items[index]


def main(texts, tokenizer):
    dist.init_process_group("gloo")
    return Tokens(texts, tokenizer, "data")
