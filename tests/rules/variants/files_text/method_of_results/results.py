"""Results of a run."""


class Results:
    def __init__(self, path):
        self.path = path
        self.rows = []

    def write(self):
        with open(self.path, "w") as file:
            file.write(str(self.rows))  # expect: DST406
