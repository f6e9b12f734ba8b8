build-clang/user/trigger/hit_ring.o: user/trigger/hit_ring.c \
  user/trigger/hit_ring.h

user/trigger/hit_ring.h:
