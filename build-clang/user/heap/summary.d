build-clang/user/heap/summary.o: user/heap/summary.c user/heap/summary.h \
  user/heap/trace.h user/ctf/reader.h user/base/cleanup.h \
  user/ctf/event.h user/heap/filter.h user/base/array.h \
  user/base/hash_index.h

user/heap/summary.h:

user/heap/trace.h:

user/ctf/reader.h:

user/base/cleanup.h:

user/ctf/event.h:

user/heap/filter.h:

user/base/array.h:

user/base/hash_index.h:
