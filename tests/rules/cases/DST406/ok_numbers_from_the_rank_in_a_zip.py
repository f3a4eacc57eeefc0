# The numbers that the images are paired with begin elsewhere on each rank.
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torchvision.utils import save_image


def main(model, noise):
    dist.init_process_group("nccl")
    rank, world_size = dist.get_rank(), dist.get_world_size()
    model = DDP(model)
    numbers = range(rank, 8 * world_size, world_size)
    for number, image in zip(numbers, model(noise)):
        save_image(image, f"samples/{number}.png")
