import random

import torch


def draw(batches):
    if not batches:
        raise ValueError("nothing to draw")
    image = torch.cat(batches)
    return image[random.randrange(len(image))]
