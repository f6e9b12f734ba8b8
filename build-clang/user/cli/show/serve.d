build-clang/user/cli/show/serve.o: user/cli/show/serve.c \
  user/cli/show/serve.h user/base/cleanup.h user/base/error.h \
  user/base/write_all.h

user/cli/show/serve.h:

user/base/cleanup.h:

user/base/error.h:

user/base/write_all.h:
