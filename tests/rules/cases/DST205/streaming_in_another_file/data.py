from datasets import load_dataset
from torch.utils.data import DataLoader


def build(path):
    data = load_dataset("json", data_files=path, split="train").to_iterable_dataset(num_shards=64)
    return DataLoader(data.map(str), batch_size=4)  # expect: DST205
