import torch
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader

torch.distributed.init_process_group("nccl")
model = DDP(net)
state = torch.load("a.pt")
if not any(k.startswith("module.") for k in model.state_dict()):
    state = {k.removeprefix("module."): v for k, v in state.items()}
model.load_state_dict(state)
