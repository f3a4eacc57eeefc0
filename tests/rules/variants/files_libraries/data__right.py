"""The twins: read, on rank 0, of each rank, in memory, in a temporary directory, by a driver."""

import io
import tarfile
import tempfile
import zipfile

import cv2
import h5py
import jsonlines
import matplotlib.pyplot as plt
import numpy as np
import torch
import torch.distributed as dist
from PIL import Image
from torchvision.utils import save_image


def media(data, out):
    save_image(data, out / "grid.png")
    Image.fromarray(data).save(out / "image.png")
    plt.savefig(out / "losses.png")


def main(data, out, model, chart):
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    if rank == 0:
        media(data, out)
        np.memmap("numbers.bin", dtype="float32", mode="w+", shape=(3,)).flush()
        with h5py.File("all.h5", "w") as file:
            file["x"] = data
    dist.barrier()
    numbers = np.memmap("numbers.bin", dtype="float32", mode="r+", shape=(3,))
    numbers[rank] = 1
    with h5py.File("all.h5", "r") as file, h5py.File("same.h5") as other:
        print(file["x"], other["x"])
    with h5py.File("parts.h5", "w", driver="mpio", comm=data.comm) as file:
        file["x"] = data
    with h5py.File(f"part_{rank}.h5", "w") as file:
        file["x"] = data
    with zipfile.ZipFile("in.zip") as archive, tarfile.open("in.tar", "r:gz") as more:
        archive.extractall(f"rank{rank}")
        more.getnames()
    with jsonlines.open("lines.jsonl", mode="a") as lines:
        lines.write({"rank": rank})
    with jsonlines.open("lines.jsonl") as lines:
        data += list(lines)
    buffer = io.BytesIO()
    Image.fromarray(data).save(buffer, format="PNG")
    plt.savefig(buffer)
    with tempfile.TemporaryDirectory() as directory:
        torch.onnx.export(model, (data,), f"{directory}/model.onnx")
        cv2.imwrite(f"{directory}/grey.png", data)
    chart.save("page")
    film = cv2.VideoCapture("film.mp4")
    film.read()
    dist.destroy_process_group()
