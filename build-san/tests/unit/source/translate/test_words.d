build-san/tests/unit/source/translate/test_words: \
 tests/unit/source/translate/test_words.c tests/assertions.h \
 user/base/error.h user/source/translate/words.h user/source/encoder.h \
 user/model/trace_params.h user/source/aux_ring.h \
 user/source/translate/arena.h user/base/cleanup.h \
 user/translate/layout.h
tests/assertions.h:
user/base/error.h:
user/source/translate/words.h:
user/source/encoder.h:
user/model/trace_params.h:
user/source/aux_ring.h:
user/source/translate/arena.h:
user/base/cleanup.h:
user/translate/layout.h:
