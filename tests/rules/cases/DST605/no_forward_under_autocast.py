# Nothing is computed in float16.
import torch

loss = net(x)
with torch.autocast("cuda"):
    loss.backward()
    optimizer.step()
