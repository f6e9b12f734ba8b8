build-clang/user/base/on_line.o: user/base/on_line.c user/base/on_line.h \
  user/base/array.h user/base/utf8.h

user/base/on_line.h:

user/base/array.h:

user/base/utf8.h:
