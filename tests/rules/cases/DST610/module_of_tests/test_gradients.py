import torch

with torch.autograd.set_detect_anomaly(True):
    f(x).backward()
