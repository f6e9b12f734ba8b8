build-san/user/base/temporary.o: user/base/temporary.c \
 user/base/temporary.h
user/base/temporary.h:
