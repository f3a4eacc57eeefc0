"""The status is a number that the script has counted."""

import os
import sys

import torch
import torch.distributed as dist


def main(model, loader, optimizer, epochs):
    dist.init_process_group("nccl")
    status = 0
    for epoch in range(epochs):
        for batch in loader:
            model(batch).sum().backward()
            optimizer.step()
            optimizer.zero_grad()
    if epochs > 0:
        torch.save(model.state_dict(), "model.pt")  # expect: DST406
        status = 3
        exit(status)


def other(model, loader, optimizer, epochs):
    dist.init_process_group("nccl")
    for epoch in range(epochs):
        for batch in loader:
            model(batch).sum().backward()
            optimizer.step()
            optimizer.zero_grad()
        if epoch == epochs - 1:
            torch.save(model.state_dict(), "model.pt")  # expect: DST406
            os._exit(2)
