from dataclasses import dataclass
import torch
import transformers
from torch.utils.data import DataLoader, DistributedSampler
from transformers import HfArgumentParser, TrainingArguments


@dataclass
class ModelArgs:
    local_rank: str = "x"


@dataclass
class Own(transformers.TrainingArguments):
    lora: bool = False


def main():
    parser = HfArgumentParser((ModelArgs, TrainingArguments))
    m, t = parser.parse_args_into_dataclasses()
    ds = list(range(10))
    sampler = DistributedSampler(ds, t.world_size, t.local_rank)  # expect: DST518
    loader = DataLoader(ds, sampler=sampler)
    for epoch in range(3):
        sampler.set_epoch(epoch)
        for b in loader:
            print(b)


if __name__ == "__main__":
    main()
