build-san/user/base/plain_file.o: user/base/plain_file.c \
 user/base/plain_file.h user/base/cleanup.h
user/base/plain_file.h:
user/base/cleanup.h:
