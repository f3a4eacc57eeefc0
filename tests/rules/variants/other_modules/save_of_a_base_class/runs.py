from base import Base


class Mine(Base):
    def step(self):
        self.model.train()
