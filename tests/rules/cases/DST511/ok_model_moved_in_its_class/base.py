class Base:
    def place(self):
        self.model = self.model.to(self.rank)
