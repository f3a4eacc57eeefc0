import time


def say(text):
    print(text)


def note(text):
    say(text)


def begin():
    return time.time()
