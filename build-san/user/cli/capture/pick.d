build-san/user/cli/capture/pick.o: user/cli/capture/pick.c \
 user/cli/capture/pick.h user/base/cleanup.h user/base/error.h \
 user/base/on_line.h
user/cli/capture/pick.h:
user/base/cleanup.h:
user/base/error.h:
user/base/on_line.h:
