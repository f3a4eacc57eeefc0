import argparse

import torch

from nets import Net

args = argparse.ArgumentParser().parse_args()
net = Net()
torch.save({"net": net.state_dict(), "epoch": 1, "args": args}, f"{args.out}/final.pt")
