build-clang/user/cli/commands.o: user/cli/commands.c user/cli/commands.h \
  user/base/edit_distance.h user/base/on_line.h user/cli/cli.h \
  user/cli/complete.h

user/cli/commands.h:

user/base/edit_distance.h:

user/base/on_line.h:

user/cli/cli.h:

user/cli/complete.h:
