build-san/user/process/launch.o: user/process/launch.c \
 user/process/launch.h user/base/cleanup.h user/base/error.h \
 user/base/log.h user/base/rights.h
user/process/launch.h:
user/base/cleanup.h:
user/base/error.h:
user/base/log.h:
user/base/rights.h:
