build-san/user/source/samples/ticks.o: user/source/samples/ticks.c \
 user/source/samples/ticks.h user/base/array.h user/base/clock.h \
 user/base/error.h user/base/reading.h user/base/sort.h \
 user/source/pt_event.h
user/source/samples/ticks.h:
user/base/array.h:
user/base/clock.h:
user/base/error.h:
user/base/reading.h:
user/base/sort.h:
user/source/pt_event.h:
