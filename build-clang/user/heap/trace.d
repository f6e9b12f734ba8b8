build-clang/user/heap/trace.o: user/heap/trace.c user/heap/trace.h \
  user/ctf/reader.h user/base/cleanup.h user/ctf/event.h \
  user/heap/filter.h user/base/array.h user/base/error.h \
  user/base/hash_index.h user/base/progress.h user/base/sort.h \
  user/base/spill.h

user/heap/trace.h:

user/ctf/reader.h:

user/base/cleanup.h:

user/ctf/event.h:

user/heap/filter.h:

user/base/array.h:

user/base/error.h:

user/base/hash_index.h:

user/base/progress.h:

user/base/sort.h:

user/base/spill.h:
