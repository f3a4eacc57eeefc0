from comm import FIRST, join

join()
if FIRST:
    open("report.txt", "w").close()
