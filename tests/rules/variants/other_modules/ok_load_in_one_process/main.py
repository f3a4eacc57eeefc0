import torch

from encoders import load_encoders

teacher = load_encoders("mocov3", "cuda")
