"""A function installs the handler for a dict that it is given."""

import signal

import torch
import torch.distributed as dist


def install(flag):
    def handler(number, frame):
        flag["stop"] = True

    signal.signal(signal.SIGUSR1, handler)


def train():
    flag = {"stop": False}
    install(flag)
    for step in range(100):
        dist.all_reduce(torch.ones(1))
        if flag["stop"]:
            break  # expect: DST102


dist.init_process_group("gloo")
train()
