build-san/user/preload/sampled.o: user/preload/sampled.c \
 user/preload/sampled.h
user/preload/sampled.h:
