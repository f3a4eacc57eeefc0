"""A function clips between the backward pass and the step, or what the turn before has left."""

import torch


def clip_all(model, limit):
    torch.nn.utils.clip_grad_norm_(model.parameters(), limit)


def right(model, loader, opt):
    for x in loader:
        loss = model(x).mean()
        opt.zero_grad()
        loss.backward()
        clip_all(model, 1.0)
        opt.step()


def at_the_start_of_the_next(model, loader, opt):
    for x in loader:
        clip_all(model, 1.0)
        opt.step()
        opt.zero_grad()
        model(x).mean().backward()


def kept_from_before(model, loader, opt):
    for x in loader:
        model(x).mean().backward()
        clip_all(model, 1.0)
        opt.step()
        opt.zero_grad()


def steps_and_clips(model, opt):
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    opt.step()
    opt.zero_grad()


def of_the_turn_before(model, loader, opt):
    for x in loader:
        steps_and_clips(model, opt)
        model(x).mean().backward()


def two_backward_passes(model, loader, opt):
    for x in loader:
        opt.zero_grad()
        model(x).mean().backward()
        clip_all(model, 1.0)
        opt.step()
        opt.zero_grad()
        model(x).sum().backward()
        clip_all(model, 1.0)
        opt.step()
