build-clang/user/heap/filter.o: user/heap/filter.c user/heap/filter.h \
  user/base/cleanup.h user/heap/trace.h user/ctf/reader.h \
  user/ctf/event.h

user/heap/filter.h:

user/base/cleanup.h:

user/heap/trace.h:

user/ctf/reader.h:

user/ctf/event.h:
