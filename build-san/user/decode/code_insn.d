build-san/user/decode/code_insn.o: user/decode/code_insn.c \
 user/decode/code_insn.h user/base/array.h user/model/branch.h
user/decode/code_insn.h:
user/base/array.h:
user/model/branch.h:
