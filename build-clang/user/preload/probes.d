build-clang/user/preload/probes.o: user/preload/probes.c \
  user/preload/probes.h

user/preload/probes.h:
