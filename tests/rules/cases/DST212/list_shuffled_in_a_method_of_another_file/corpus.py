import random


class Corpus:
    def __init__(self, lines):
        self.lines = lines
        random.shuffle(self.lines)  # expect: DST212

    def split(self, share):
        count = int(len(self.lines) * share)
        return self.lines[:count], self.lines[count:]
