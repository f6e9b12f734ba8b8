build-clang/user/arch/x86_64/machine.o: user/arch/x86_64/machine.c \
  user/arch/x86_64/machine.h user/arch/x86_64/registers.h

user/arch/x86_64/machine.h:

user/arch/x86_64/registers.h:
