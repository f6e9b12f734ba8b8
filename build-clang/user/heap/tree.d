build-clang/user/heap/tree.o: user/heap/tree.c user/heap/tree.h \
  user/heap/trace.h user/ctf/reader.h user/base/cleanup.h \
  user/ctf/event.h user/heap/filter.h user/base/array.h \
  user/base/hash_index.h

user/heap/tree.h:

user/heap/trace.h:

user/ctf/reader.h:

user/base/cleanup.h:

user/ctf/event.h:

user/heap/filter.h:

user/base/array.h:

user/base/hash_index.h:
