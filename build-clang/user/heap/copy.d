build-clang/user/heap/copy.o: user/heap/copy.c user/heap/copy.h \
  user/heap/trace.h user/ctf/reader.h user/base/cleanup.h \
  user/ctf/event.h user/heap/filter.h user/output/output.h \
  user/base/array.h user/ctf/writer.h

user/heap/copy.h:

user/heap/trace.h:

user/ctf/reader.h:

user/base/cleanup.h:

user/ctf/event.h:

user/heap/filter.h:

user/output/output.h:

user/base/array.h:

user/ctf/writer.h:
