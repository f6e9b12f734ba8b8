build-clang/user/ctf/ctf_location.o: user/ctf/ctf_location.c \
  user/ctf/ctf_location.h user/ctf/ctf_cursor.h user/ctf/ctf_mtf.h \
  user/ctf/event.h user/base/error.h

user/ctf/ctf_location.h:

user/ctf/ctf_cursor.h:

user/ctf/ctf_mtf.h:

user/ctf/event.h:

user/base/error.h:
