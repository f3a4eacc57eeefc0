"""A function makes the dict, and installs the handler for it."""

import signal

import torch
import torch.distributed as dist


def made():
    flag = {"stop": False}

    def handler(number, frame):
        flag["stop"] = True

    signal.signal(signal.SIGUSR1, handler)
    return flag


def other():
    flag = made()
    for step in range(100):
        dist.all_reduce(torch.ones(1))
        if flag["stop"]:
            break  # expect: DST102


dist.init_process_group("gloo")
other()
