class Manager:
    def __init__(self):
        self.history = []

    def add(self, text):
        self.history.append(text)

    def is_new(self):
        return len(self.history) == 0
