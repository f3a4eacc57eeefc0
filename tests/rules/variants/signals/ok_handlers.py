"""Handlers that write what decides nothing, or what the ranks agree on."""

import signal

import torch
import torch.distributed as dist


def agreed():
    flag = {"stop": False}

    def handler(number, frame):
        flag["stop"] = True

    signal.signal(signal.SIGUSR1, handler)
    for step in range(100):
        stop = torch.tensor(int(flag["stop"]))
        dist.all_reduce(stop, op=dist.ReduceOp.MAX)
        if stop.item():
            break


def other_item():
    flag = {"stop": False, "asked": False}

    def handler(number, frame):
        flag["asked"] = True

    signal.signal(signal.SIGUSR1, handler)
    for step in range(100):
        dist.all_reduce(torch.ones(1))
        flag["stop"] = step == 50
        if flag["stop"]:
            break


def own_dict():
    flag = {"stop": False}

    def handler(number, frame):
        flag = {}
        flag["stop"] = True
        print(flag)

    signal.signal(signal.SIGUSR1, handler)
    for step in range(100):
        dist.all_reduce(torch.ones(1))
        if flag["stop"]:
            break


def only_printed():
    seen = []

    def handler(number, frame):
        seen.append(number)

    signal.signal(signal.SIGUSR1, handler)
    for step in range(100):
        dist.all_reduce(torch.ones(1))
        if seen:
            print("asked to stop")


def not_installed():
    flag = {"stop": False}

    def handler(number, frame):
        flag["stop"] = True

    print(handler)
    for step in range(100):
        dist.all_reduce(torch.ones(1))
        if flag["stop"]:
            break


dist.init_process_group("gloo")
agreed()
other_item()
own_dict()
only_printed()
not_installed()
