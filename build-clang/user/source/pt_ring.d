build-clang/user/source/pt_ring.o: user/source/pt_ring.c \
  user/source/pt_ring.h user/model/trace_params.h user/source/pt_event.h

user/source/pt_ring.h:

user/model/trace_params.h:

user/source/pt_event.h:
