import torch
from accelerate import Accelerator
from helpers import clip, clip_at_the_end, clip_managed, take_step


def main(model, batches):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for index, batch in enumerate(batches):
        model(batch).mean().backward()
        if (index + 1) % 4 == 0:
            clip(model)
            take_step(optimizer)


def with_a_test_in_the_helper(model, batches):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for index, batch in enumerate(batches):
        model(batch).mean().backward()
        clip_at_the_end(model, index)
        if (index + 1) % 4 == 0:
            take_step(optimizer)


def in_each_turn(model, batches):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for batch in batches:
        model(batch).mean().backward()
        clip(model)
        take_step(optimizer)


def with_accelerate(model, optimizer, batches):
    accelerator = Accelerator(gradient_accumulation_steps=4)
    model, optimizer = accelerator.prepare(model, optimizer)
    for batch in batches:
        with accelerator.accumulate(model):
            accelerator.backward(model(batch).mean())
            clip_managed(accelerator, model)
            optimizer.step()
            optimizer.zero_grad()
