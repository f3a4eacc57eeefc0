import shutil


def clear(folder):
    shutil.rmtree(folder)
