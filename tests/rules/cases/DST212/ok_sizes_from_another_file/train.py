import torch.distributed as dist
from masks import divided, drawn
from torch.nn.parallel import DistributedDataParallel as DDP


def train(model, loader):
    dist.init_process_group("nccl")
    model = DDP(model)
    for images in loader:
        channels = images.shape[1]
        kept, dropped = drawn(channels, channels // 2)
        one, other = divided(images, 8)
        model(one[:, kept], other[:, dropped]).backward()
