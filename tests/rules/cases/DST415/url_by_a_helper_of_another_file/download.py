import os

import torch
from torchvision.datasets.utils import download_url


def find_model(name):
    local_path = f"pretrained_models/{name}"
    if not os.path.isfile(local_path):
        os.makedirs("pretrained_models", exist_ok=True)
        download_url(f"https://example.org/{name}", "pretrained_models")  # expect: DST415
    return torch.load(local_path)
