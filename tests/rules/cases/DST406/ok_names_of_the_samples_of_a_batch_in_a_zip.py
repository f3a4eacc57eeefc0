# The names are those of the samples of a batch, which each rank has others of.
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torchvision.utils import save_image


def main(model, loader):
    dist.init_process_group("nccl")
    model = DDP(model)
    for images, names in loader:
        for number, (name, image) in enumerate(zip(names, model(images))):
            save_image(image, f"samples/{name}_{number}.png")
