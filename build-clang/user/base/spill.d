build-clang/user/base/spill.o: user/base/spill.c user/base/spill.h \
  user/base/cleanup.h user/base/array.h user/base/log.h \
  user/base/temporary.h

user/base/spill.h:

user/base/cleanup.h:

user/base/array.h:

user/base/log.h:

user/base/temporary.h:
