import torch
from helpers import agree, agree_on_none, say


class Queue:
    def finish(self, group):
        if not self.jobs:  # expect: DST122
            return 0
        ready = torch.tensor(len(self.jobs))
        agree(ready, group)
        while len(self.jobs) > int(ready):
            self.jobs.popleft()
        return int(ready)

    def finish_alone(self, group):
        if not self.jobs:
            return 0
        say(len(self.jobs))
        agree_on_none(group)
        while self.jobs:
            self.jobs.popleft()
        return 1
