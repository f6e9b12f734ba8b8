build-san/user/trigger/perf_uprobe.o: user/trigger/perf_uprobe.c \
 user/trigger/perf_uprobe.h user/base/cleanup.h user/base/reading.h
user/trigger/perf_uprobe.h:
user/base/cleanup.h:
user/base/reading.h:
