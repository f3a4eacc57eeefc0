import torch
import torch.distributed as dist
from filelock import FileLock
from torch.hub import load_state_dict_from_url


def by_one_first(name):
    if dist.get_rank() == 0:
        torch.hub.load("facebookresearch/dinov2", name)
    dist.barrier()
    return torch.hub.load("facebookresearch/dinov2", name)


def main(args):
    dist.init_process_group("nccl")
    local = torch.hub.load(args.directory, "net", source="local")
    with FileLock("hub.lock"):
        locked = torch.hub.load("pytorch/vision", "resnet18")
    state = torch.load("last.pt", map_location="cpu")
    weights = load_state_dict_from_url("https://example.org/a.pth", map_location="cpu")
    if dist.get_rank() == 0:
        torch.hub.help("a/b", "net")
    dist.barrier()
    torch.hub.load("a/b", "net")
    return by_one_first("vit"), local, locked, state, weights
