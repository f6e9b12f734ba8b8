build-san/user/process/shield.o: user/process/shield.c \
 user/process/shield.h user/base/log.h user/process/inject.h \
 user/process/proc_status.h
user/process/shield.h:
user/base/log.h:
user/process/inject.h:
user/process/proc_status.h:
