class Meter:
    def update(self, value, n=1):
        self.total += float(value) * n
        self.value = value
