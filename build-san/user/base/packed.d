build-san/user/base/packed.o: user/base/packed.c user/base/packed.h
user/base/packed.h:
