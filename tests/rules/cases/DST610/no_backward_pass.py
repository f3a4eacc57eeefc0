import torch

torch.autograd.set_detect_anomaly(True)
with torch.no_grad():
    print(net(x))
