import shutil


def clear(folder):
    shutil.rmtree(folder)  # expect: DST413
