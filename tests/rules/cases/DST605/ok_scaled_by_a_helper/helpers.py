import torch

amp = torch.amp.GradScaler("cuda")


def go_back(loss, optimizer):
    amp.scale(loss).backward()
    amp.step(optimizer)
    amp.update()
    optimizer.zero_grad()
