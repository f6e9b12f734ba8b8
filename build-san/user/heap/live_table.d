build-san/user/heap/live_table.o: user/heap/live_table.c \
 user/heap/live_table.h user/base/hash_index.h
user/heap/live_table.h:
user/base/hash_index.h:
