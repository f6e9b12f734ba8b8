build-clang/user/ctf/reader_event.o: user/ctf/reader_event.c \
  user/base/error.h user/ctf/reader_internal.h user/ctf/code_table.h \
  user/base/hash_index.h user/ctf/event.h user/ctf/ctf_input.h \
  user/ctf/ctf_location.h user/ctf/ctf_cursor.h user/ctf/ctf_mtf.h \
  user/ctf/ctf_stack.h user/ctf/ctf_packet.h user/ctf/reader.h \
  user/base/cleanup.h

user/base/error.h:

user/ctf/reader_internal.h:

user/ctf/code_table.h:

user/base/hash_index.h:

user/ctf/event.h:

user/ctf/ctf_input.h:

user/ctf/ctf_location.h:

user/ctf/ctf_cursor.h:

user/ctf/ctf_mtf.h:

user/ctf/ctf_stack.h:

user/ctf/ctf_packet.h:

user/ctf/reader.h:

user/base/cleanup.h:
