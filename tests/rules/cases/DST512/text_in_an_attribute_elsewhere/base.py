import os


class Base:
    def __init__(self):
        self.rank = os.environ["RANK"]
        self.local_rank = int(os.environ["LOCAL_RANK"])
