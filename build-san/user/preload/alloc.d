build-san/user/preload/alloc.o: user/preload/alloc.c user/preload/draw.h \
 user/preload/probes.h user/preload/sampled.h
user/preload/draw.h:
user/preload/probes.h:
user/preload/sampled.h:
