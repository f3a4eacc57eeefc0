class Runner:
    start_epoch = 0

    def run_epoch(self, epoch):
        pass

    def run(self):
        for epoch in range(self.start_epoch, self.args.epochs):
            self.run_epoch(epoch)
