build-san/user/base/log.o: user/base/log.c user/base/log.h \
 user/base/error.h user/base/on_line.h user/base/progress.h
user/base/log.h:
user/base/error.h:
user/base/on_line.h:
user/base/progress.h:
