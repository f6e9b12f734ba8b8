build-san/user/process/inject.o: user/process/inject.c \
 user/process/inject.h user/base/array.h user/process/proc_status.h
user/process/inject.h:
user/base/array.h:
user/process/proc_status.h:
