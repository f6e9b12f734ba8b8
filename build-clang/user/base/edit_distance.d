build-clang/user/base/edit_distance.o: user/base/edit_distance.c \
  user/base/edit_distance.h

user/base/edit_distance.h:
