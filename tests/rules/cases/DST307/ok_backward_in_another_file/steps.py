def update(loss, optimizer):
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def send(loss):
    loss.backward()
    loss.detach_()
