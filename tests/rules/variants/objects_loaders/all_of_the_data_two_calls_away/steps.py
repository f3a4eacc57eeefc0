def train_step(model, optimizer, batch):
    model.train()
    return forward_and_backward(model, optimizer, batch)


def forward_and_backward(model, optimizer, batch):
    loss = model(batch).mean()
    loss.backward()
    optimizer.step()
    return loss.item()


def loss_on(model, batch):
    return model(batch).mean().item()
