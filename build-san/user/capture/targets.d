build-san/user/capture/targets.o: user/capture/targets.c \
 user/capture/targets.h user/base/array.h user/base/cleanup.h \
 user/base/error.h user/process/proc_status.h
user/capture/targets.h:
user/base/array.h:
user/base/cleanup.h:
user/base/error.h:
user/process/proc_status.h:
