build-san/user/process/program.o: user/process/program.c \
 user/process/program.h user/base/cleanup.h user/base/error.h \
 user/elf/elf_file.h user/elf/inlines.h user/model/symbol.h
user/process/program.h:
user/base/cleanup.h:
user/base/error.h:
user/elf/elf_file.h:
user/elf/inlines.h:
user/model/symbol.h:
