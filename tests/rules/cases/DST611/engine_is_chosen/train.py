import deepspeed
from steps import backward, managed, update
from torch.nn.utils import clip_grad_norm_


def train(model, optimizer, loader, kind):
    if kind == "deepspeed":
        model, optimizer, _, _ = deepspeed.initialize(model=model, optimizer=optimizer)
    for batch in loader:
        backward(model, model(batch).mean(), kind)
        update(model, optimizer, kind)


def always(model, optimizer, loader):
    model, optimizer, _, _ = deepspeed.initialize(model=model, optimizer=optimizer)
    for batch in loader:
        managed(model, model(batch).mean())
        clip_grad_norm_(model.parameters(), 1.0)  # expect: DST611
        model.step()
