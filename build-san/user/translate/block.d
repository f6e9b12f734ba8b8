build-san/user/translate/block.o: user/translate/block.c \
 user/decode/code_insn.h user/model/branch.h user/translate/emit.h \
 user/translate/layout.h user/translate/runtime.h
user/decode/code_insn.h:
user/model/branch.h:
user/translate/emit.h:
user/translate/layout.h:
user/translate/runtime.h:
