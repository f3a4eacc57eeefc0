"""The function that adds the terms up is not looked into."""


def of_generator(commit_loss, made, given):
    rec_loss = (made - given).abs().mean()
    return rec_loss + 100 * commit_loss, rec_loss


def train(model, loader, opt):
    total = 0.0
    for x in loader:
        made, commit_loss = model(x)
        loss, rec_loss = of_generator(commit_loss, made, x)
        total += commit_loss  # expect: DST307
        opt.zero_grad()
        loss.backward()
        opt.step()
