build-clang/user/rebuild/input_file.o: user/rebuild/input_file.c \
  user/rebuild/input_file.h user/base/cleanup.h user/base/error.h \
  user/base/temporary.h user/base/write_all.h

user/rebuild/input_file.h:

user/base/cleanup.h:

user/base/error.h:

user/base/temporary.h:

user/base/write_all.h:
