build-clang/user/decode/status.o: user/decode/status.c \
  user/decode/status.h user/model/branch.h user/base/error.h

user/decode/status.h:

user/model/branch.h:

user/base/error.h:
