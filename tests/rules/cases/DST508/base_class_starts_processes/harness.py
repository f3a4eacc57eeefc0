import multiprocessing


class Case:
    def start(self, main):
        multiprocessing.Process(target=main).start()
