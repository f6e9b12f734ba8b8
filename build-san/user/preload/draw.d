build-san/user/preload/draw.o: user/preload/draw.c user/preload/draw.h
user/preload/draw.h:
