build-clang/user/process/attach_check.o: user/process/attach_check.c \
  user/process/attach_check.h user/base/cleanup.h user/base/error.h \
  user/base/reading.h user/base/rights.h user/process/proc_status.h

user/process/attach_check.h:

user/base/cleanup.h:

user/base/error.h:

user/base/reading.h:

user/base/rights.h:

user/process/proc_status.h:
