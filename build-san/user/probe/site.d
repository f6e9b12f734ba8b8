build-san/user/probe/site.o: user/probe/site.c user/probe/site.h \
 user/elf/elf_file.h user/base/cleanup.h user/elf/inlines.h \
 user/model/symbol.h user/arch/arch.h user/arch/x86_64/machine.h \
 user/arch/x86_64/registers.h user/base/array.h user/elf/elf_range.h
user/probe/site.h:
user/elf/elf_file.h:
user/base/cleanup.h:
user/elf/inlines.h:
user/model/symbol.h:
user/arch/arch.h:
user/arch/x86_64/machine.h:
user/arch/x86_64/registers.h:
user/base/array.h:
user/elf/elf_range.h:
