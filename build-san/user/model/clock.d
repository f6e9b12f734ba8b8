build-san/user/model/clock.o: user/model/clock.c \
 user/model/trace_params.h
user/model/trace_params.h:
