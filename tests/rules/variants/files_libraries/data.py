"""Files that all ranks write with other libraries."""

import json
import tarfile
import zipfile

import cv2
import dill
import h5py
import imageio
import joblib
import jsonlines
import matplotlib.pyplot as plt
import numpy as np
import pyarrow.parquet as pq
import safetensors.numpy
import soundfile as sf
import torch
import torch.distributed as dist
import torchaudio
from omegaconf import OmegaConf
from PIL import Image
from scipy.io import savemat, wavfile
from torchvision.utils import save_image


def arrays(data, path):
    with h5py.File(path, "w") as file:  # expect: DST406
        file.create_dataset("x", data=data)
    numbers = np.memmap("x.bin", dtype="float32", mode="w+", shape=(3,))  # expect: DST406
    numbers[:] = data
    np.lib.format.open_memmap("n.npy", "w+", shape=data.shape)[:] = data  # expect: DST406
    data.tofile("data.bin")  # expect: DST406
    savemat("data.mat", {"x": data})  # expect: DST406
    safetensors.numpy.save_file({"x": data}, "data.safetensors")  # expect: DST406


def objects(data, cfg, table):
    with open("data.pkl", "wb") as file:
        dill.dump(data, file)  # expect: DST406
    joblib.dump(data, "data.joblib")  # expect: DST406
    OmegaConf.save(cfg, "config.yaml")  # expect: DST406
    pq.write_table(table, "table.parquet")  # expect: DST406
    with jsonlines.open("lines.jsonl", mode="w") as lines:
        lines.write_all(data)  # expect: DST406
    with jsonlines.open("more.jsonl", "w") as lines:
        for each in data:
            lines.write(each)  # expect: DST406
    with zipfile.ZipFile("all.zip", "w") as archive:  # expect: DST406
        archive.writestr("data.json", json.dumps(data))
    with tarfile.open("all.tar.gz", "w:gz") as archive:  # expect: DST406
        archive.add("data.pkl")


def media(data, losses, rate):
    image = Image.fromarray(data)
    image.save("image.png")  # expect: DST406
    Image.open("in.png").convert("RGB").resize((8, 8)).save("small.png")  # expect: DST406
    cv2.imwrite("grey.png", data)  # expect: DST406
    imageio.mimsave("all.gif", data)  # expect: DST406
    save_image(data, "grid.png", nrow=4)  # expect: DST406
    plt.plot(losses)
    plt.savefig("losses.png")  # expect: DST406
    figure, axes = plt.subplots()
    axes.plot(losses)
    figure.savefig("figure.pdf")  # expect: DST406
    sf.write("out.wav", data, rate)  # expect: DST406
    torchaudio.save("voice.wav", data, rate)  # expect: DST406
    wavfile.write("noise.wav", rate, data)  # expect: DST406
    film = cv2.VideoWriter("film.mp4", 0, 30, (8, 8))
    for frame in data:
        film.write(frame)  # expect: DST406


def main(data, cfg, table, model):
    dist.init_process_group("gloo")
    arrays(data, "data.h5")
    objects(data, cfg, table)
    media(data, [1, 2], 16000)
    torch.onnx.export(model, (data,), "model.onnx")  # expect: DST406
    dist.destroy_process_group()
