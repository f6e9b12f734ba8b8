build-clang/user/cli/magic_trace.o: user/cli/magic_trace.c \
  user/cli/magic_trace.h user/base/array.h

user/cli/magic_trace.h:

user/base/array.h:
