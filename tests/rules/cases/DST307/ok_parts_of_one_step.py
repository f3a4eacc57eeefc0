"""The list or the sum begins in each call, and the loop takes the parts of one optimizer step."""

from itertools import islice

import torch


def forward_and_backward_step(args, model, data_iterator, do_backward=True):
    loss_list = []
    ga_steps = model.gradient_accumulation_steps()
    for i in range(ga_steps):
        loss = model(next(data_iterator))
        if do_backward:
            model.backward(loss)
            model.step()
        loss_list.append(loss)
    return loss_list


def evaluated(args, model, data_iterator):
    losses = forward_and_backward_step(args, model, data_iterator, False)
    return [each.item() for each in losses]


def of_arguments(args, model, batches):
    losses = []
    for _ in range(args.accum_steps):
        loss = model(next(batches))
        loss.backward()
        losses.append(loss)
    return sum(losses).item()


def of_a_dict(config, model, batches):
    total = 0.0
    for _ in range(int(config["gradient_accumulation_steps"]) // 2):
        loss = model(next(batches))
        loss.backward()
        total += loss
    return total


def of_micro_batches(model, micro_batches, optimizer):
    losses = []
    for micro_batch in micro_batches:
        loss = model(micro_batch)
        loss.backward()
        losses.append(loss)
    optimizer.step()
    optimizer.zero_grad()
    return torch.stack(losses).mean()


def of_pairs(model, xs, ys, count):
    losses = []
    for micro_step, (x, y) in enumerate(zip(xs, ys)):
        loss = model(x, y)
        loss.backward()
        losses.append(loss)
    return losses


def of_a_slice(model, loader, accumulate):
    losses = []
    grad_accum = max(1, accumulate)
    for batch in islice(loader, grad_accum):
        loss = model(batch)
        loss.backward()
        losses.append(loss)
    return losses


def counted_down(model, stream, accumulation):
    losses = []
    micro_step = 0
    while micro_step < accumulation:
        loss = model(next(stream))
        loss.backward()
        losses.append(loss)
        micro_step += 1
    return losses


def of_steps(model, optimizer, stream, steps, gradient_accumulation_steps):
    for step in range(steps):
        losses = []
        for part in range(gradient_accumulation_steps):
            loss = model(next(stream))
            loss.backward()
            losses.append(loss)
        update(optimizer)
        print(step, sum(losses).item())


def update(how):
    how.step()
    how.zero_grad()


def by_heads(model, optimizer, heads):
    """The optimizer takes its step after the loop."""
    kept = []
    for head in heads:
        loss = model(head)
        loss.backward()
        kept.append(loss)
    optimizer.step()
    return kept


class Trainer:
    def train_step(self):
        self.losses = []
        for _ in range(self.args.gradient_accumulation_steps):
            loss = self.model(next(self.stream))
            self.accelerator.backward(loss)
            self.losses.append(loss)
        self.optimizer.step()
