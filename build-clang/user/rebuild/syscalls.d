build-clang/user/rebuild/syscalls.o: user/rebuild/syscalls.c \
  user/rebuild/syscalls.h user/base/array.h

user/rebuild/syscalls.h:

user/base/array.h:
