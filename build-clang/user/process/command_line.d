build-clang/user/process/command_line.o: user/process/command_line.c \
  user/process/command_line.h user/base/cleanup.h

user/process/command_line.h:

user/base/cleanup.h:
