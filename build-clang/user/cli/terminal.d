build-clang/user/cli/terminal.o: user/cli/terminal.c user/cli/terminal.h \
  user/base/array.h user/base/cleanup.h user/base/on_line.h

user/cli/terminal.h:

user/base/array.h:

user/base/cleanup.h:

user/base/on_line.h:
