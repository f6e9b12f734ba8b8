build-clang/user/output/names.o: user/output/names.c user/output/names.h \
  user/base/array.h

user/output/names.h:

user/base/array.h:
