build-clang/user/output/proto.o: user/output/proto.c user/output/proto.h \
  user/base/array.h

user/output/proto.h:

user/base/array.h:
