build-clang/user/base/hash_index.o: user/base/hash_index.c \
  user/base/hash_index.h

user/base/hash_index.h:
