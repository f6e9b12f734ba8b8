build-clang/user/process/proc_status.o: user/process/proc_status.c \
  user/process/proc_status.h user/base/cleanup.h user/base/reading.h

user/process/proc_status.h:

user/base/cleanup.h:

user/base/reading.h:
