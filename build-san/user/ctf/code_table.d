build-san/user/ctf/code_table.o: user/ctf/code_table.c \
 user/ctf/code_table.h user/base/hash_index.h user/ctf/event.h \
 user/base/array.h
user/ctf/code_table.h:
user/base/hash_index.h:
user/ctf/event.h:
user/base/array.h:
