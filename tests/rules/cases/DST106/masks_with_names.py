import torch
import torch.distributed as dist
from accelerate import Accelerator
from torchvision.ops import nms

accelerator = Accelerator()


def tokens(batch, logits):
    chosen = logits.argmax(-1)
    labelled = batch["labels"] != -100
    hits = accelerator.gather(chosen[labelled])  # expect: DST106
    both = accelerator.gather((chosen[labelled], batch["labels"]))  # expect: DST106
    whole = accelerator.gather(torch.where(labelled, chosen, 0))
    return hits, both, whole


def outside(errors, parts):
    far = torch.nonzero(errors > errors.mean()).squeeze(1)
    dist.all_gather(parts, far)  # expect: DST106
    dist.all_reduce(errors[far].sum())
    where = torch.where(errors > 1)[0]
    dist.all_reduce(errors[where])  # expect: DST106


def combined(scores, kinds, parts):
    keep = (scores > 0.5) & (kinds == 1)
    dist.all_gather(parts, scores[keep].float())  # expect: DST106
    dist.all_gather(parts, scores[~keep])
    dist.all_gather(parts, scores[:8])
    boxes = torch.stack([scores, scores])
    dist.all_gather(parts, boxes[nms(boxes, scores, 0.5)])  # expect: DST106


def counted(codes):
    found, counts = codes.unique(return_counts=True)
    dist.all_reduce(counts)  # expect: DST106
    number = torch.tensor(found.numel())
    dist.all_reduce(number)
    first = codes.unique()[0]
    dist.all_reduce(first)


def by_rank(rows, ranks):
    mine = rows[ranks == dist.get_rank()]
    return mine
