class Meter:
    def update(self, value, n=1):
        self.total += value * n
        self.value = value
