class Meter:
    def update(self, value, n=1):
        self.total += value.detach() * n
        self.value = value
