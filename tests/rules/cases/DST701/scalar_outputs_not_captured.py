import torch

torch._dynamo.config.verbose = True


@torch.compile
def split(x, sizes):
    return x.split(sizes.tolist())  # expect: DST701
