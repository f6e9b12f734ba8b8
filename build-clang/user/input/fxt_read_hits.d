build-clang/user/input/fxt_read_hits.o: user/input/fxt_read_hits.c \
  user/base/array.h user/input/fxt_read_internal.h \
  user/base/hash_index.h user/base/sort.h user/model/timeline.h \
  user/model/hit.h user/arch/arch.h user/arch/x86_64/machine.h \
  user/arch/x86_64/registers.h user/base/cleanup.h bpf/hit_action.h \
  user/model/symbol.h user/output/fxt_stream.h user/output/fxt_names.h \
  user/output/fxt_record.h user/output/output.h user/output/shown.h

user/base/array.h:

user/input/fxt_read_internal.h:

user/base/hash_index.h:

user/base/sort.h:

user/model/timeline.h:

user/model/hit.h:

user/arch/arch.h:

user/arch/x86_64/machine.h:

user/arch/x86_64/registers.h:

user/base/cleanup.h:

bpf/hit_action.h:

user/model/symbol.h:

user/output/fxt_stream.h:

user/output/fxt_names.h:

user/output/fxt_record.h:

user/output/output.h:

user/output/shown.h:
