import torch.nn.functional as F


def scaled(logits, wanted, accumulation):
    loss = F.cross_entropy(logits, wanted)
    return loss / accumulation
