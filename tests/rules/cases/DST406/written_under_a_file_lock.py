"""Ranks write one after the other, and those that come later read what is there."""

import os
from threading import Lock

import torch
import torch.distributed as dist
from filelock import FileLock

dist.init_process_group("gloo")
features = torch.ones(3)
guard = FileLock("others.lock")

with FileLock("features.lock"):
    if not os.path.exists("features.pt"):
        torch.save(features, "features.pt")

with guard:
    if os.path.exists("others.pt"):
        features = torch.load("others.pt", weights_only=True)
    else:
        torch.save(features, "others.pt")


def cached(path, make):
    with FileLock(path + ".lock"):
        if not os.path.exists(path):
            with open(path, "wb") as file:
                torch.save(make(), file)


cached("made.pt", lambda: features)

with Lock():  # which no other process sees
    torch.save(features, "threads.pt")  # expect: DST406

with FileLock("last.lock"):
    print("locked")
torch.save(features, "last.pt")  # expect: DST406
