"""A loop over steps of a schedule is none over batches."""

import torch
import torch.distributed as dist
import torch.nn.functional as F


def sample(unet, latents, timesteps, guidance):
    for t in timesteps:
        noise = unet(latents, t)
        if t > 500:
            dist.all_reduce(noise)
        latents = latents - noise
    return latents
