"""What is stepped every fourth batch is a scheduler; the optimizer steps in each."""

import torch

net = torch.nn.Linear(2, 1)
sgd = torch.optim.SGD(net.parameters(), lr=0.1)
decay = torch.optim.lr_scheduler.StepLR(sgd, 1)
for number, batch in enumerate(torch.ones(8, 1, 2)):
    net(batch).mean().backward()
    sgd.step()
    sgd.zero_grad()
    if number % 4 == 0:
        decay.step()
