build-clang/user/ctf/ctf_cache.o: user/ctf/ctf_cache.c \
  user/ctf/ctf_stack.h user/ctf/ctf_packet.h user/ctf/ctf_cursor.h

user/ctf/ctf_stack.h:

user/ctf/ctf_packet.h:

user/ctf/ctf_cursor.h:
