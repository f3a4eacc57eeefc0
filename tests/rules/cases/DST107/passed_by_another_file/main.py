from accelerate import Accelerator

from meters import Mean, Other


class Own:
    def all_gather(self, value):
        return [value]


mean = Mean(Accelerator())
other = Other(Own())
