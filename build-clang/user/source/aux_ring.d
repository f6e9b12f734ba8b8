build-clang/user/source/aux_ring.o: user/source/aux_ring.c \
  user/source/aux_ring.h user/base/error.h

user/source/aux_ring.h:

user/base/error.h:
