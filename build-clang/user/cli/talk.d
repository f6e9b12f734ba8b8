build-clang/user/cli/talk.o: user/cli/talk.c user/cli/talk.h \
  user/base/log.h user/base/progress.h

user/cli/talk.h:

user/base/log.h:

user/base/progress.h:
