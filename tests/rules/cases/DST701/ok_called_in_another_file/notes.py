import torch


@torch.compiler.disable
def note(text):
    print(text)


def skip(text):
    if not torch.compiler.is_compiling():
        print(text)
