"""The name does not say that it is an optimizer; that its gradients are emptied does."""

import torch

net = torch.nn.Linear(2, 1)
sgd = torch.optim.SGD(net.parameters(), lr=0.1)
for number, batch in enumerate(torch.ones(8, 1, 2)):
    (net(batch).mean() / 4).backward()
    if number % 4 == 0:  # expect: DST308
        sgd.step()
        sgd.zero_grad()
