import torch
from notes import note, skip


@torch.compile
def step(x):
    y = x * 2
    note("step")
    skip("step")
    if not torch.compiler.is_compiling():
        plain("step")
    return y + 1


def plain(text):
    print(text)
