import torch

with torch.autograd.set_detect_anomaly(True):  # expect: DST610
    f(x).backward()
