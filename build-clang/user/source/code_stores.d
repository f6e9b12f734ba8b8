build-clang/user/source/code_stores.o: user/source/code_stores.c \
  user/source/code_stores.h user/base/cleanup.h user/source/code_store.h \
  user/model/snapshot.h bpf/alloc.h user/model/call.h user/model/hit.h \
  user/arch/arch.h user/arch/x86_64/machine.h \
  user/arch/x86_64/registers.h bpf/hit_action.h user/model/sample.h \
  user/model/trace_params.h user/process/maps.h user/model/sideband.h \
  user/source/insn.h user/base/array.h user/source/jit_files.h

user/source/code_stores.h:

user/base/cleanup.h:

user/source/code_store.h:

user/model/snapshot.h:

bpf/alloc.h:

user/model/call.h:

user/model/hit.h:

user/arch/arch.h:

user/arch/x86_64/machine.h:

user/arch/x86_64/registers.h:

bpf/hit_action.h:

user/model/sample.h:

user/model/trace_params.h:

user/process/maps.h:

user/model/sideband.h:

user/source/insn.h:

user/base/array.h:

user/source/jit_files.h:
