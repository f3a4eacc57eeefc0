from files import save


class Trainer:
    def __init__(self, model, rank):
        self.model = model
        self.rank = rank

    def fit(self):
        for epoch in range(3):
            if self.rank == 0:
                save(self.model, f"epoch{epoch}.pt")
