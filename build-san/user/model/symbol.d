build-san/user/model/symbol.o: user/model/symbol.c user/model/symbol.h \
 user/base/array.h
user/model/symbol.h:
user/base/array.h:
