"""Items and events that an object keeps."""

import signal
import threading

import torch
import torch.distributed as dist


class Trainer:
    def __init__(self):
        self.state = {"stop": False}
        self.stopped = threading.Event()
        signal.signal(signal.SIGUSR1, self.on_signal)
        signal.signal(signal.SIGUSR2, self.on_other)

    def on_signal(self, number, frame):
        self.state["stop"] = True

    def on_other(self, number, frame):
        self.stopped.set()

    def fit(self):
        for step in range(100):
            dist.all_reduce(torch.ones(1))
            if self.state["stop"]:
                break  # expect: DST102
        for step in range(100):
            dist.all_reduce(torch.ones(1))
            if self.stopped.is_set():
                break  # expect: DST102


dist.init_process_group("gloo")
Trainer().fit()
