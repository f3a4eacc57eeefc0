import torch
from accelerate.utils import find_executable_batch_size


def main(flag):

    @find_executable_batch_size(starting_batch_size=8)
    def train(batch_size):
        model = torch.nn.Linear(2, 1)
        steps = torch.optim.SGD(model.parameters(), lr=0.1)
        model(torch.ones(batch_size, 2)).mean().backward()
        steps.step()
        if flag:
            return 7, model
        return None, model

    size, model = train()
    print(model)
