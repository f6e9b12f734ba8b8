build-clang/user/cli/front.o: user/cli/front.c user/cli/front.h \
  user/base/array.h user/base/error.h user/capture/interrupt.h \
  user/cli/cli.h

user/cli/front.h:

user/base/array.h:

user/base/error.h:

user/capture/interrupt.h:

user/cli/cli.h:
