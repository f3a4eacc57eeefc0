"""Items of lists and of global dicts; collections that a method changes."""

import signal

import torch
import torch.distributed as dist

STATE = {"stop": False}


def on_signal(number, frame):
    STATE["stop"] = True


dist.init_process_group("gloo")


def of_the_module():
    signal.signal(signal.SIGUSR1, on_signal)
    for step in range(100):
        dist.all_reduce(torch.ones(1))
        if STATE["stop"]:
            break  # expect: DST102


def of_a_list():
    stop = [False]

    def handler(*_):
        stop[0] = True

    signal.signal(signal.SIGUSR1, handler)
    for step in range(100):
        dist.all_reduce(torch.ones(1))
        if stop[0]:
            break  # expect: DST102


def by_a_method():
    received = []

    def handler(number, frame):
        received.append(number)

    signal.signal(signal.SIGUSR1, handler)
    for step in range(100):
        dist.all_reduce(torch.ones(1))
        if received:
            return  # expect: DST102


def counted():
    count = {"signals": 0}

    def handler(number, frame):
        count["signals"] += 1

    signal.signal(signal.SIGUSR1, handler)
    for step in range(100):
        dist.all_reduce(torch.ones(1))
        if count["signals"] > 0:
            break  # expect: DST102
