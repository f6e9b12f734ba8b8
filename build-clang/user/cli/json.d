build-clang/user/cli/json.o: user/cli/json.c user/cli/json.h \
  user/base/cleanup.h user/base/utf8.h

user/cli/json.h:

user/base/cleanup.h:

user/base/utf8.h:
