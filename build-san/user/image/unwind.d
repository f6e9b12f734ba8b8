build-san/user/image/unwind.o: user/image/unwind.c user/image/unwind.h \
 user/arch/arch.h user/arch/x86_64/machine.h user/arch/x86_64/registers.h \
 user/base/array.h user/elf/cfi.h user/image/image.h user/elf/inlines.h \
 user/model/symbol.h user/elf/landing.h user/image/jit_symbols.h
user/image/unwind.h:
user/arch/arch.h:
user/arch/x86_64/machine.h:
user/arch/x86_64/registers.h:
user/base/array.h:
user/elf/cfi.h:
user/image/image.h:
user/elf/inlines.h:
user/model/symbol.h:
user/elf/landing.h:
user/image/jit_symbols.h:
