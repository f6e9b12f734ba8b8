build-san/user/cli/own_stack.o: user/cli/own_stack.c user/cli/own_stack.h
user/cli/own_stack.h:
