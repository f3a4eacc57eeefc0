"""There are gradients when they are clipped, and a step takes them."""

import torch
from torch.nn.utils import clip_grad_norm_


def step_of_the_turn_before(model, loader, optimizer):
    for x in loader:
        clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        model(x).mean().backward()


def two_networks(net_d, net_g, loader, opt_d, opt_g):
    for x in loader:
        opt_d.zero_grad()
        net_d(x).mean().backward()
        clip_grad_norm_(net_d.parameters(), 1.0)
        opt_d.step()
        opt_g.zero_grad()
        net_g(x).mean().backward()
        clip_grad_norm_(net_g.parameters(), 1.0)
        opt_g.step()


def helper(model, loader, optimizer):
    def first_part(x):
        model(x).mean().backward()

    for x in loader:
        optimizer.zero_grad()
        first_part(x)
        clip_grad_norm_(model.parameters(), 1.0)
        model(x).sum().backward()
        optimizer.step()


def collected(model, loader, optimizer):
    for i, x in enumerate(loader):
        if i % 4 == 0:
            optimizer.zero_grad()
        clip_grad_norm_(model.parameters(), 1.0)
        model(x).mean().backward()
        optimizer.step()


def zeroed_elsewhere(model, loader, optimizer, reset):
    for x in loader:
        clip_grad_norm_(model.parameters(), 1.0)
        reset()
        model(x).mean().backward()
        optimizer.step()


def left_early(model, loader, optimizer):
    for i, x in enumerate(loader):
        if i % 2:
            clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
            continue
        optimizer.zero_grad()
        model(x).mean().backward()
        clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()


def gradients_by_hand(model, loader, optimizer):
    for x in loader:
        optimizer.zero_grad()
        for parameter, gradient in zip(
            model.parameters(), torch.autograd.grad(model(x).mean(), model.parameters())
        ):
            parameter.grad = gradient
        clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()


def two_rounds_of_parts(model, loader, optimizer, scaler):
    for parts in loader:
        for x in parts:
            scaler.scale(model(x).mean()).backward()
        if model.clips:
            clip_grad_norm_(model.parameters(), 1.0)
        optimizer.remember()
        optimizer.zero_grad()
        for x in parts:
            scaler.scale(model(x).sum()).backward()
        optimizer.step()
