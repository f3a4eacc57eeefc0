import torch
from accelerate import Accelerator
from helpers import clip, clip_managed, take_step


def main(model, batches):
    parts = {}
    parts["optimizer"] = torch.optim.SGD(model.parameters(), lr=0.1)
    for index, batch in enumerate(batches):
        model(batch).mean().backward()
        clip(model)  # expect: DST615
        if (index + 1) % 4 == 0:
            parts["optimizer"].step()
            parts["optimizer"].zero_grad()


def with_steps_elsewhere(model, batches):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for index, batch in enumerate(batches):
        model(batch).mean().backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)  # expect: DST615
        take_step(index, optimizer)


def with_accelerate(model, optimizer, batches):
    accelerator = Accelerator(gradient_accumulation_steps=4)
    model, optimizer = accelerator.prepare(model, optimizer)
    for batch in batches:
        with accelerator.accumulate(model):
            accelerator.backward(model(batch).mean())
            clip_managed(accelerator, model)  # expect: DST615
            optimizer.step()
            optimizer.zero_grad()
