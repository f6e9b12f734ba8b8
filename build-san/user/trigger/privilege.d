build-san/user/trigger/privilege.o: user/trigger/privilege.c \
 user/trigger/privilege.h user/base/array.h user/base/cleanup.h \
 user/base/error.h
user/trigger/privilege.h:
user/base/array.h:
user/base/cleanup.h:
user/base/error.h:
