import torch
from torch.distributed import init_process_group
from torch.nn.parallel import DistributedDataParallel as Wrapped


def load(net, path):
    net.load_state_dict(torch.load(path))  # expect: DST404
    return Wrapped(net.cuda())
