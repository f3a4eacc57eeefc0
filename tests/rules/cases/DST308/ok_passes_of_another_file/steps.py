def send(loss):
    loss.backward()


def empty(optimizer):
    optimizer.zero_grad()


def begin(optimizer, step, n):
    if step % n == 0:
        optimizer.zero_grad()
