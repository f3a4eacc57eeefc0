import torch.nn.functional as F


def predict(logits):
    return F.softmax(logits, dim=-1)
