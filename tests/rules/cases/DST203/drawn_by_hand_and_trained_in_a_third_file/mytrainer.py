class Trainer:
    def __init__(self, model, opt):
        self.model, self.opt = model, opt

    def prepare(self, data):
        self.dataset = data
        self.dataset.setup()

    def step(self, batch, epoch):
        self.opt.zero_grad()
        self.model(batch).sum().backward()
        self.opt.step()
