"""Files named after the number of a batch, a loss or a key: it is the same on all ranks."""

import numpy as np
import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, DistributedSampler
from torchvision.utils import save_image


def main(data, model, tables):
    dist.init_process_group("gloo")
    loader = DataLoader(data, sampler=DistributedSampler(data))
    step = 0
    for index, (images, names) in enumerate(loader):
        out = model(images)
        save_image(out, f"out/{index}.png")  # expect: DST406
        step += len(names)
        torch.save(out, f"out/{step}.pt")  # expect: DST406
    for name in ["train", "test"]:
        np.save(f"{name}.npy", tables[name])  # expect: DST406
    for key, table in tables.items():
        np.save(f"{key}_all.npy", table)  # expect: DST406
    for epoch in range(3):
        np.savez(f"epoch_{epoch}.npz", x=epoch)  # expect: DST406
    dist.destroy_process_group()
