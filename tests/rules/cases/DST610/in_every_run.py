import torch

if __name__ == "__main__":
    torch.autograd.set_detect_anomaly(True)  # expect: DST610
train(options)
