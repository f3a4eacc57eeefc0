def update(loss, optimizer):
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
