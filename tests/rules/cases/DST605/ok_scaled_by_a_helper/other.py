def go_back(loss, optimizer):
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
