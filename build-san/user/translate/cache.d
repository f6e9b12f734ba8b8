build-san/user/translate/cache.o: user/translate/cache.c \
 user/translate/emit.h user/translate/layout.h user/translate/runtime.h
user/translate/emit.h:
user/translate/layout.h:
user/translate/runtime.h:
