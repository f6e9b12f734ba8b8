build-san/user/source/pt/pt_limits.o: user/source/pt/pt_limits.c \
 user/source/pt/pt_limits.h user/base/error.h user/base/reading.h
user/source/pt/pt_limits.h:
user/base/error.h:
user/base/reading.h:
