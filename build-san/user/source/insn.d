build-san/user/source/insn.o: user/source/insn.c user/source/insn.h
user/source/insn.h:
