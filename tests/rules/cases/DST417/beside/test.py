import sys

import torch

from nets import Net

checkpoint = torch.load(sys.argv[1])  # expect: DST417
net = Net()
net.load_state_dict(checkpoint["net"])
print("epoch", checkpoint["epoch"])
