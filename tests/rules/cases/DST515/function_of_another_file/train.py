import torch
from env import setup

rank, world = 0, 1
try:
    rank, world = setup("nccl")
except Exception as error:  # expect: DST515
    print("single process", error)
torch.cuda.set_device(rank % torch.cuda.device_count())
torch.save({}, "model.pt")
