build-clang/user/condition/condition_lexer.o: \
  user/condition/condition_lexer.c user/condition/condition_lexer.h \
  user/base/array.h user/base/error.h

user/condition/condition_lexer.h:

user/base/array.h:

user/base/error.h:
