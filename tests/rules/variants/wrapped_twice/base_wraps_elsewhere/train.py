from accelerate import Accelerator
from base import Base


class Trainer(Base):
    def setup(self, optim):
        acc = Accelerator()
        self.model, self.optim = acc.prepare(self.model, optim)  # expect: DST624
