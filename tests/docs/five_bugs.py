"""What docs/comparison.md says no other tool reports: one bug in each function."""

import torch
import torch.distributed as dist
from accelerate.utils import find_executable_batch_size
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

dist.init_process_group("nccl")
rank = dist.get_rank()
device = torch.device("cuda", rank % torch.cuda.device_count())


def log(loss):
    if rank == 0:
        dist.all_reduce(loss)  # nobody else does
        print(loss)


def fit(model, batches):
    wrapped = DistributedDataParallel(model)
    for batch in batches:
        loss = wrapped(batch).mean()
        loss.backward()
        if loss.item() < 0.1:
            break  # on the loss of this rank


def retried(data):
    model = torch.nn.Linear(8, 1).to(device)

    @find_executable_batch_size(starting_batch_size=128)
    def train(batch_size):
        for batch in data.split(batch_size):
            model(batch).mean().backward()  # made outside, once for all attempts

    train()


def loader():
    data = TensorDataset(torch.randn(1000, 8))
    return DataLoader(data, batch_size=64, sampler=DistributedSampler(data))


def save(model):
    wrapped = DistributedDataParallel(model)
    if rank == 0:
        torch.save(wrapped.state_dict(), "model.pt")  # every name begins with `module.`
