build-clang/user/probe/spec.o: user/probe/spec.c user/probe/spec.h \
  user/base/cleanup.h user/base/error.h

user/probe/spec.h:

user/base/cleanup.h:

user/base/error.h:
