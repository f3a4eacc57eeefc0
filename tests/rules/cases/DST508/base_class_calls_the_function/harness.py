import multiprocessing


class Case:
    def start(self, main):
        main()
