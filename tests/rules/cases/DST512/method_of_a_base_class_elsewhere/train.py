from base import Base


class Trainer(Base):
    def save(self, path):
        if not self.is_main_process:  # expect: DST512
            return
        open(path, "w").close()

    def report(self):
        if self.is_main:
            print("main")
