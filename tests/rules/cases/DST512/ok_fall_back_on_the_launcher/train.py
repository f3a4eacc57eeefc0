from comm import is_main_process, setup


def main():
    if is_main_process():
        print("starting")
    setup()
