build-clang/user/source/pt_event.o: user/source/pt_event.c \
  user/source/pt_event.h user/base/reading.h

user/source/pt_event.h:

user/base/reading.h:
