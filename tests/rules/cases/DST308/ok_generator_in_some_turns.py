import torch


def main(critic, generator, loader, critic_optimizer, optimizer, n=4):
    for i, x in enumerate(loader):
        critic_optimizer.zero_grad()
        critic(x).mean().backward()
        critic_optimizer.step()
        optimizer.zero_grad()
        fake = generator(x)
        if (i + 1) % n == 0:
            (-critic(fake).mean()).backward()
            optimizer.step()
