"""Logs."""

import os


class Log:
    def __init__(self, folder, name):
        if not os.path.exists(folder):
            os.mkdir(folder)
        self.path = os.path.join(folder, name)
