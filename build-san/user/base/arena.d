build-san/user/base/arena.o: user/base/arena.c user/base/arena.h \
 user/base/hash_index.h user/base/array.h
user/base/arena.h:
user/base/hash_index.h:
user/base/array.h:
