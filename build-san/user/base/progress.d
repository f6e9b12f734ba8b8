build-san/user/base/progress.o: user/base/progress.c user/base/progress.h \
 user/base/clock.h
user/base/progress.h:
user/base/clock.h:
