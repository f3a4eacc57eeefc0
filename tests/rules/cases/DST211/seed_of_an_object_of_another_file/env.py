import os


class Env:
    def __init__(self, base):
        self.local = int(os.environ["LOCAL_RANK"])
        self.process_seed = base * 1000 + self.local
        self.seed = base
