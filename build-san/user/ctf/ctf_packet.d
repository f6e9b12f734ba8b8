build-san/user/ctf/ctf_packet.o: user/ctf/ctf_packet.c \
 user/ctf/ctf_packet.h user/ctf/ctf_cursor.h user/ctf/event.h
user/ctf/ctf_packet.h:
user/ctf/ctf_cursor.h:
user/ctf/event.h:
