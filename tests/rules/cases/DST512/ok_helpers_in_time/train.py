import os

from comm import is_main_process, say, setup


def main(path):
    setup()
    say("starting")
    if is_main_process():
        os.makedirs(path)


def tool(path):
    say("no processes here")
    return path


def perhaps(path, distributed):
    if is_main_process():  # expect: DST512
        print("starting")
    if distributed:
        setup()
