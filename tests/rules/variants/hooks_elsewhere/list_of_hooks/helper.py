class Loop:
    def __init__(self, hooks, count):
        self.hooks = hooks
        self.count = count

    def go(self):
        for number in range(self.count):
            for hook in self.hooks:
                hook(number)
