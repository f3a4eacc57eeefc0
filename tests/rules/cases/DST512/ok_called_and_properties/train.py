import comm
from base import Base
from comm import is_main_process
from missing import is_master


class Trainer(Base):
    def __init__(self):
        self.main = is_main_process()
        self.callback = is_main_process
        self.context = Base()

    def save(self, path, main=None):
        if self.is_main or self.is_main_process() or self.main:
            open(path, "w").close()
        if self.context.is_main:
            print("main")
        if comm.is_main_process() and is_master:
            print("main")
        if self.callback is not None and self.callback():
            print("main")
        if main is None or main():
            print("main")


def guarded(function, path):
    if function:
        function(path)


guarded(print, "x")
