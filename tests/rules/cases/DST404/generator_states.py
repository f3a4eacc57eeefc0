import torch
import torch.distributed as dist

dist.init_process_group("nccl")
torch.cuda.set_device(number)
states = torch.load("generators.pt")
torch.cuda.set_rng_state(states[0])
torch.set_rng_state(states[1])
