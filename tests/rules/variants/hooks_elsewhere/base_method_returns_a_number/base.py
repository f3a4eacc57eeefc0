class Runner:
    start_epoch = 0

    def run_epoch(self, epoch):
        return 0.0

    def run(self):
        best = 1.0
        for epoch in range(self.start_epoch, self.args.epochs):
            score = self.run_epoch(epoch)
            best = min(best, score)
        return best
