import comm


class Tester:
    def accuracy(self, loader):
        hits = seen = 0
        for x, y in loader:
            hits += (self.model(x).argmax(1) == y).sum().item()
            seen += len(y)
        self.best = max(self.best, hits / seen)
        return comm.total(hits / seen, self.device)  # expect: DST617

    def averaged(self, loader):
        hits = seen = 0
        for x, y in loader:
            hits += (self.model(x).argmax(1) == y).sum().item()
            seen += len(y)
        return comm.mean(hits / seen, self.device)

    def counted(self, loader):
        hits = seen = 0
        for x, y in loader:
            hits += (self.model(x).argmax(1) == y).sum().item()
            seen += len(y)
        return comm.total(hits, self.device) / comm.total(seen, self.device)
