# What was drawn is not impossible.
import torch
import torch.distributed as dist


def draw(scores, rows):
    chances = torch.softmax(scores, dim=-1)
    drawn = torch.multinomial(chances, 1)[:, 0]
    return chances[rows, drawn].log()
