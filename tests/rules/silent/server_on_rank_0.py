"""Rank 0 answers requests in functions that a server calls; the others follow what it sends."""

import sched

import torch
import torch.distributed as dist


class Server:
    def answer(self):
        dist.broadcast(torch.ones(1), 0)

    def stop(self):
        dist.broadcast(torch.zeros(1), 0)

    def run(self):
        if dist.get_rank() == 0:
            timetable = sched.scheduler()
            timetable.enter(0, 1, self.answer)
            timetable.enter(0, 2, self.stop)
            timetable.run()
        else:
            self.follow()

    def follow(self):
        while True:
            command = torch.empty(1)
            dist.broadcast(command, 0)
            if command.item() == 0:
                return


if __name__ == "__main__":
    dist.init_process_group("gloo")
    Server().run()
    dist.destroy_process_group()
