build-san/user/base/utf8.o: user/base/utf8.c user/base/utf8.h \
 user/base/array.h
user/base/utf8.h:
user/base/array.h:
