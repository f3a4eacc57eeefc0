"""The twin: an evaluation in one process."""

import cv2
import h5py
import matplotlib.pyplot as plt
import torch


def main(model, loader):
    model = torch.nn.DataParallel(model)
    with h5py.File("all.h5", "w") as file:
        for index, batch in enumerate(loader):
            out = model(batch)
            file[str(index)] = out
            cv2.imwrite(f"{index}.png", out)
    plt.savefig("all.png")
