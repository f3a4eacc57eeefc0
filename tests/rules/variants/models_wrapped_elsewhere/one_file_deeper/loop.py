from step import one_step


def run_epoch(model, loader, optimizer):
    for batch in loader:
        one_step(model, batch, optimizer)
