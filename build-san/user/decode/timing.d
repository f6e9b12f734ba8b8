build-san/user/decode/timing.o: user/decode/timing.c user/decode/timing.h
user/decode/timing.h:
