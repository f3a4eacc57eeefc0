import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel as DDP


def train(net, loader, optimizer, world):
    model = DDP(net)
    for images, texts in loader:
        image = model(images)
        text = model(texts)
        images_of_all = [torch.empty_like(image) for _ in range(world)]
        texts_of_all = [torch.empty_like(text) for _ in range(world)]
        dist.all_gather(images_of_all, image)  # expect: DST118
        dist.all_gather(texts_of_all, text)  # expect: DST118
        logits = torch.cat(images_of_all) @ torch.cat(texts_of_all).T
        loss = F.cross_entropy(logits, torch.arange(len(logits)))
        loss.backward()
        optimizer.step()
