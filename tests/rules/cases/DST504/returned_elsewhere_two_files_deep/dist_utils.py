from comm import start


def setup():
    return start()
