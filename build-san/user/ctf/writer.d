build-san/user/ctf/writer.o: user/ctf/writer.c user/ctf/writer.h \
 user/base/cleanup.h user/ctf/event.h user/output/output.h \
 user/base/array.h user/base/error.h user/ctf/writer_internal.h \
 user/ctf/ctf_location.h user/ctf/ctf_cursor.h user/ctf/ctf_mtf.h \
 user/ctf/ctf_stack.h user/ctf/ctf_packet.h
user/ctf/writer.h:
user/base/cleanup.h:
user/ctf/event.h:
user/output/output.h:
user/base/array.h:
user/base/error.h:
user/ctf/writer_internal.h:
user/ctf/ctf_location.h:
user/ctf/ctf_cursor.h:
user/ctf/ctf_mtf.h:
user/ctf/ctf_stack.h:
user/ctf/ctf_packet.h:
