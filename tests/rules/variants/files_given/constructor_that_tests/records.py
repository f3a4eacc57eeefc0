"""The records."""

import os


class Recorder:
    def __init__(self, number, path):
        self.number = number
        self.path = path
        if number == 0:
            self.make()

    def make(self):
        if not os.path.exists(self.path):
            os.mkdir(self.path)
