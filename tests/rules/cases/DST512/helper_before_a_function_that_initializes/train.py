import os

from comm import is_main_process, setup


def main(path):
    if is_main_process():  # expect: DST512
        os.makedirs(path)
    setup()
    if is_main_process():
        print("main")
