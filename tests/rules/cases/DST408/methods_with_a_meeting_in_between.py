import torch
import torch.distributed as dist


class WaitsInTheSave:
    def save(self):
        if dist.get_rank() == 0:
            torch.save(self.model.state_dict(), self.file)
        dist.barrier()

    def load(self):
        return torch.load(self.file)

    def run(self):
        self.save()
        self.load()


class WaitsInTheLoad:
    def save(self):
        if dist.get_rank() != 0:
            return
        torch.save(self.model.state_dict(), self.file)

    def load(self):
        dist.barrier()
        return torch.load(self.file)

    def run(self):
        self.save()
        self.load()


class WaitsInBetween:
    def save(self):
        if dist.get_rank() != 0:
            return
        torch.save(self.model.state_dict(), self.file)

    def load(self):
        return torch.load(self.file)

    def run(self):
        self.save()
        dist.barrier()
        self.load()


class TrainsInBetween:
    def save(self):
        if dist.get_rank() != 0:
            return
        torch.save(self.model.state_dict(), self.file)

    def load(self):
        return torch.load(self.file)

    def train(self):
        self.model(self.batch).mean().backward()

    def run(self):
        self.save()
        self.train()
        self.load()


class LoadsOnRank0:
    def save(self):
        if dist.get_rank() != 0:
            return
        torch.save(self.model.state_dict(), self.file)

    def load(self):
        return torch.load(self.file)

    def run(self):
        self.save()
        if dist.get_rank() == 0:
            self.load()


class LoadsAtTheStart:
    def save(self):
        if dist.get_rank() != 0:
            return
        torch.save(self.model.state_dict(), self.file)

    def load(self):
        return torch.load(self.file)

    def run(self):
        self.load()
        self.save()


class AnotherFile:
    def save(self, name):
        if dist.get_rank() == 0:
            torch.save(self.model.state_dict(), name)

    def load(self, name):
        return torch.load(name)

    def run(self):
        self.save("a.pt")
        self.load("b.pt")
