import torch

if options.search:
    torch.autograd.set_detect_anomaly(True)
train(options)
