build-clang/user/source/samples/ring.o: user/source/samples/ring.c \
  user/source/samples/ring.h bpf/samples.h user/model/sample.h \
  user/arch/arch.h user/arch/x86_64/machine.h \
  user/arch/x86_64/registers.h user/base/cleanup.h

user/source/samples/ring.h:

bpf/samples.h:

user/model/sample.h:

user/arch/arch.h:

user/arch/x86_64/machine.h:

user/arch/x86_64/registers.h:

user/base/cleanup.h:
