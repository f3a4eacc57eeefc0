import torch

for i, b in enumerate(bs):
    net(b).backward()
    last = (i + 1) % 4 == 0
    if last_micro_batch:
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    if (i + 1) % 4 == 0:
        optimizer.step()
