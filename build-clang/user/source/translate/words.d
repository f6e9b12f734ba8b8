build-clang/user/source/translate/words.o: user/source/translate/words.c \
  user/source/translate/words.h user/source/encoder.h \
  user/model/trace_params.h user/source/aux_ring.h \
  user/source/translate/arena.h user/base/cleanup.h \
  user/translate/layout.h user/base/array.h

user/source/translate/words.h:

user/source/encoder.h:

user/model/trace_params.h:

user/source/aux_ring.h:

user/source/translate/arena.h:

user/base/cleanup.h:

user/translate/layout.h:

user/base/array.h:
