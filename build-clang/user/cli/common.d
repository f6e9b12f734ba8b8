build-clang/user/cli/common.o: user/cli/common.c user/cli/cli.h \
  user/base/array.h user/base/error.h user/base/log.h \
  user/base/progress.h bpf/alloc_probe.h bpf/alloc.h bpf/usdt_arg.h \
  user/arch/x86_64/registers.h

user/cli/cli.h:

user/base/array.h:

user/base/error.h:

user/base/log.h:

user/base/progress.h:

bpf/alloc_probe.h:

bpf/alloc.h:

bpf/usdt_arg.h:

user/arch/x86_64/registers.h:
