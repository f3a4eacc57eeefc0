# The names are a list of their own beside the images.
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torchvision.utils import save_image


def sample(model, device_noise, names):
    images = model(device_noise)
    for name, image in zip(names, images):
        save_image(image, f"samples/{name}.png")  # expect: DST406


def main(model, local_rank):
    dist.init_process_group("nccl")
    model = DDP(model, device_ids=[local_rank])
    noise = torch.randn(8, 64, device=local_rank)
    sample(model, noise, ["cat", "dog", "cow", "fox"])
