from comm import make, say, setup


def main(path):
    make(path)  # expect: DST512
    say("starting")
    setup()
    say("started")
