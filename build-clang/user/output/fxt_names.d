build-clang/user/output/fxt_names.o: user/output/fxt_names.c \
  user/output/fxt_names.h user/base/cleanup.h user/model/symbol.h \
  user/base/array.h user/base/hash_index.h

user/output/fxt_names.h:

user/base/cleanup.h:

user/model/symbol.h:

user/base/array.h:

user/base/hash_index.h:
