build-san/user/cli/main.o: user/cli/main.c user/base/array.h \
 user/base/rights.h user/cli/cli.h user/cli/commands.h \
 user/cli/complete.h user/cli/own_stack.h
user/base/array.h:
user/base/rights.h:
user/cli/cli.h:
user/cli/commands.h:
user/cli/complete.h:
user/cli/own_stack.h:
