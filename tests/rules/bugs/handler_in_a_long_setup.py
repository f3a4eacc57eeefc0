"""A long set-up installs a handler: the signal reaches one process before the others."""
# static: takes a signal that reaches one process alone

import signal

import torch
import torch.distributed as dist


class Job:
    stop = False


def on_signal(number, frame):
    Job.stop = True


def prepare(options):
    found = []
    found.append(options["width"])
    found.append(options["depth"])
    found.append(options["width"] * options["depth"])
    found.append(options["width"] + options["depth"])
    found.append(options["width"] - options["depth"])
    found.append(options["width"] // options["depth"])
    found.append(options["width"] % options["depth"])
    found.append(max(found))
    found.append(min(found))
    found.append(sum(found))
    signal.signal(signal.SIGTERM, on_signal)
    return found


dist.init_process_group("gloo")
prepare({"width": 2, "depth": 2})
total = torch.zeros(1)
for step in range(100):
    if Job.stop:
        break  # expect: DST102
    dist.all_reduce(total)
dist.destroy_process_group()
