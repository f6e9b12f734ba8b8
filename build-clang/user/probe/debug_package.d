build-clang/user/probe/debug_package.o: user/probe/debug_package.c \
  user/probe/debug_package.h user/base/cleanup.h

user/probe/debug_package.h:

user/base/cleanup.h:
