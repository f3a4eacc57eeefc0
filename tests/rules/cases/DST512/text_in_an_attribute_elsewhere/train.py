from base import Base


class Trainer(Base):
    def save(self, path):
        if self.rank == 0:  # expect: DST512
            open(path, "w").close()
        if self.local_rank == 0:
            print("first")
