"""Loops over gradient accumulation steps beside lists of more than one step."""


def begun_before_the_steps(model, optimizer, stream, steps, accum_steps):
    losses = []
    for step in range(steps):
        for part in range(accum_steps):
            loss = model(next(stream))
            loss.backward()
            losses.append(loss)  # expect: DST307
        optimizer.step()


def every_few_batches(model, optimizer, loader, accum_steps):
    losses = []
    for number, batch in enumerate(loader):
        loss = model(batch)
        loss.backward()
        if (number + 1) % accum_steps == 0:
            optimizer.step()
        losses.append(loss)  # expect: DST307
    return losses


def as_many_steps_as_windows(model, optimizer, loader, accum_steps):
    total = 0
    for window in range(len(loader) // accum_steps):
        loss = model(window)
        loss.backward()
        optimizer.step()
        total += loss  # expect: DST307
    return total


def as_many_parts_in_all(model, steps, accum_steps):
    total = 0
    for number in range(steps * accum_steps):
        loss = model(number)
        loss.backward()
        total += loss  # expect: DST307
    return total


def given(model, losses, accum_steps):
    for number in range(accum_steps):
        loss = model(number)
        loss.backward()
        losses.append(loss)  # expect: DST307


def gradients_of_an_epoch(model, optimizer, train_loader):
    losses = []
    for batch in train_loader:
        loss = model(batch)
        loss.backward()
        losses.append(loss)  # expect: DST307
    optimizer.step()
    return losses


def one_step(model, accum_steps):
    kept = []
    for number in range(accum_steps):
        loss = model(number)
        loss.backward()
        kept.append(loss)  # expect: DST307
    return kept


def epoch(model, steps, accum_steps):
    history = []
    for step in range(steps):
        history.extend(one_step(model, accum_steps))
    return history


def other_step(model, accum_steps):
    kept = 0
    for number in range(accum_steps):
        loss = model(number)
        loss.backward()
        kept += loss  # expect: DST307
    return kept


def other_epoch(model, steps, accum_steps):
    running = 0
    for step in range(steps):
        loss = other_step(model, accum_steps)
        running += loss
    return running


class Trainer:
    losses = []

    def train_step(self):
        for _ in range(self.args.gradient_accumulation_steps):
            loss = self.model(next(self.stream))
            self.accelerator.backward(loss)
            self.losses.append(loss)  # expect: DST307
        self.optimizer.step()
