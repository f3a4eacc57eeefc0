"""Logs."""

import os


class Log:
    def __init__(self, folder, name):
        if not os.path.exists(folder):
            os.mkdir(folder)  # expect: DST414
        self.path = os.path.join(folder, name)
