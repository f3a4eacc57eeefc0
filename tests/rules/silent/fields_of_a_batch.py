"""Which fields a batch has depends on the dataset, and of which type they are."""

import torch
import torch.distributed as dist
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler


class Questions(torch.utils.data.Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, index):
        return {"tokens": torch.ones(2), "question": index}


def gathered(tensor):
    parts = [torch.empty_like(tensor) for _ in range(dist.get_world_size())]
    dist.all_gather(parts, tensor)
    return torch.cat(parts)


def evaluate(loader):
    for batch in loader:
        for name in batch:
            batch[name] = batch[name].to("cpu")
        has_question = False
        if "question" in batch:
            question = batch.pop("question")
            has_question = True
        if torch.is_tensor(batch["tokens"]):
            dist.all_reduce(batch["tokens"])
        if has_question:
            gathered(question)


dist.init_process_group("gloo")
dataset = Questions()
evaluate(DataLoader(dataset, batch_size=2, sampler=DistributedSampler(dataset, shuffle=False)))
dist.barrier()
dist.destroy_process_group()
