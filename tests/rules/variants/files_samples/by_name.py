"""Files named after samples: each rank has others."""

import os
from pathlib import Path

import cv2
import numpy as np
import soundfile as sf
import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, DistributedSampler
from torchvision.utils import save_image


def write(image, name, directory):
    cv2.imwrite(os.path.join(directory, name + ".png"), image)


class Tester:
    def __init__(self, loader, model):
        self.loader, self.model = loader, model

    def run(self, out):
        for data in self.loader:
            result = self.model(data)
            stem = os.path.splitext(os.path.basename(data["path"][0]))[0]
            save_image(result, os.path.join(out, f"{stem}.png"))
            meta = data["meta"]
            torch.save(result, out + meta["id"] + ".pt")


def main(data, model):
    dist.init_process_group("gloo")
    loader = DataLoader(data, sampler=DistributedSampler(data))
    for images, names in loader:
        for image, name in zip(model(images), names):
            np.save(f"out/{name}.npy", image)
            write(image, name, "out")
    for step, batch in enumerate(loader):
        for index, uid in enumerate(batch["uid"]):
            sf.write(Path("out") / f"{uid}.wav", batch["wave"][index], 16000)
        torch.save(step, Path(batch["path"][0]).with_suffix(".pt"))
    Tester(loader, model).run("results")
    dist.destroy_process_group()
