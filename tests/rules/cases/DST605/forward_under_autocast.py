import torch

loss = net(x)
with torch.autocast("cuda"):  # expect: DST605
    loss = net(x)
    loss.backward()
    optimizer.step()
