build-clang/user/process/pin.o: user/process/pin.c user/process/pin.h \
  user/process/proc_status.h

user/process/pin.h:

user/process/proc_status.h:
