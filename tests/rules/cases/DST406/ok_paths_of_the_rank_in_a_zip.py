# The paths beside the images have the rank in them.
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torchvision.utils import save_image


def main(model, noise, names):
    dist.init_process_group("nccl")
    rank = dist.get_rank()
    model = DDP(model)
    paths = [f"samples/{rank}/{name}.png" for name in names]
    for i, (image, path) in enumerate(zip(model(noise), paths)):
        save_image(image, path)
