build-clang/user/image/jit_symbols.o: user/image/jit_symbols.c \
  user/image/jit_symbols.h user/model/symbol.h user/base/array.h \
  user/base/cleanup.h user/base/plain_file.h user/base/sort.h

user/image/jit_symbols.h:

user/model/symbol.h:

user/base/array.h:

user/base/cleanup.h:

user/base/plain_file.h:

user/base/sort.h:
