build-clang/user/process/keeper.o: user/process/keeper.c \
  user/process/keeper.h user/base/array.h user/base/cleanup.h \
  user/base/error.h user/base/log.h user/base/sort.h

user/process/keeper.h:

user/base/array.h:

user/base/cleanup.h:

user/base/error.h:

user/base/log.h:

user/base/sort.h:
