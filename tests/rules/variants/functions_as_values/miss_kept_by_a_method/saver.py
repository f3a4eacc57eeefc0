class Saver:
    def __init__(self):
        self.done = None

    def call_after(self, function):
        self.done = function

    def save(self, is_main):
        if is_main:
            self.done()
