build-san/user/ctf/reader.o: user/ctf/reader.c user/ctf/reader.h \
 user/base/cleanup.h user/ctf/event.h user/base/error.h \
 user/base/reading.h user/ctf/reader_internal.h user/ctf/code_table.h \
 user/base/hash_index.h user/ctf/ctf_input.h user/ctf/ctf_location.h \
 user/ctf/ctf_cursor.h user/ctf/ctf_mtf.h user/ctf/ctf_stack.h \
 user/ctf/ctf_packet.h
user/ctf/reader.h:
user/base/cleanup.h:
user/ctf/event.h:
user/base/error.h:
user/base/reading.h:
user/ctf/reader_internal.h:
user/ctf/code_table.h:
user/base/hash_index.h:
user/ctf/ctf_input.h:
user/ctf/ctf_location.h:
user/ctf/ctf_cursor.h:
user/ctf/ctf_mtf.h:
user/ctf/ctf_stack.h:
user/ctf/ctf_packet.h:
