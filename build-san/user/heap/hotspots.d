build-san/user/heap/hotspots.o: user/heap/hotspots.c user/heap/hotspots.h \
 user/heap/tree.h user/heap/trace.h user/ctf/reader.h user/base/cleanup.h \
 user/ctf/event.h user/heap/filter.h user/base/array.h user/base/sort.h
user/heap/hotspots.h:
user/heap/tree.h:
user/heap/trace.h:
user/ctf/reader.h:
user/base/cleanup.h:
user/ctf/event.h:
user/heap/filter.h:
user/base/array.h:
user/base/sort.h:
