from base import Base


class Trainer:
    def __init__(self):
        self.context = Base()

    def save(self, path):
        if self.context.is_main_process:  # expect: DST512
            open(path, "w").close()


def main(path):
    context = Base()
    if context.is_main_process and path:  # expect: DST512
        open(path, "w").close()
