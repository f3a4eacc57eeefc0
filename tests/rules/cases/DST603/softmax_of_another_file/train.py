import torch
from heads import predict


def first(logits, target):
    probs = predict(logits)
    return -torch.log(probs[torch.arange(len(target)), target]).mean()  # expect: DST603


def second(logits, target):
    out = {}
    out["probs"] = torch.softmax(logits, dim=-1)
    return -out["probs"].gather(1, target).log().mean()  # expect: DST603
