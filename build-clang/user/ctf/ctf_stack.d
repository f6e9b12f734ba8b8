build-clang/user/ctf/ctf_stack.o: user/ctf/ctf_stack.c \
  user/ctf/ctf_stack.h user/ctf/ctf_packet.h user/ctf/ctf_cursor.h \
  user/base/array.h

user/ctf/ctf_stack.h:

user/ctf/ctf_packet.h:

user/ctf/ctf_cursor.h:

user/base/array.h:
