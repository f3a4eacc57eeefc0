"""The loader goes by other names on the way to the loop."""

import cv2
import numpy as np
import torch.distributed as dist
from tqdm import tqdm


def infer(model, data, directory):
    for images, records in data:
        for image, record in zip(model(images), records):
            cv2.imwrite(directory + record["name"], image)


def features(model, loader):
    if dist.get_rank() == 0:
        batches = tqdm(loader, total=len(loader))
    else:
        batches = loader
    steps = batches
    for data in steps:
        for output, record in zip(model(data), data):
            path = record["save_path"]
            np.save(path, output)


def tables(frames):
    for name, frame in frames.items():
        frame.to_csv(f"{name}.csv")  # expect: DST406


def main(model, test_loader, frames):
    dist.init_process_group("gloo")
    infer(model, test_loader, "out/")
    features(model, test_loader)
    tables(frames)
    dist.destroy_process_group()
