class Base:
    def run(self, epochs):
        for self.epoch in range(epochs):
            self.before()
            self.loader.sampler.set_epoch(self.epoch)
            self.train_epoch()

    def before(self):
        print("epoch", self.epoch)

    def train_epoch(self):
        pass
