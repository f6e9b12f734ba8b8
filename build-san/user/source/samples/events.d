build-san/user/source/samples/events.o: user/source/samples/events.c \
 user/source/samples/events.h user/source/samples/ticks.h \
 user/base/array.h user/base/cleanup.h user/base/error.h
user/source/samples/events.h:
user/source/samples/ticks.h:
user/base/array.h:
user/base/cleanup.h:
user/base/error.h:
