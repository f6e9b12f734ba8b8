build-san/user/input/fxt_read_calls.o: user/input/fxt_read_calls.c \
 user/base/array.h user/base/sort.h user/base/spill.h user/base/cleanup.h \
 user/input/fxt_read_internal.h user/base/hash_index.h \
 user/model/timeline.h user/model/hit.h user/arch/arch.h \
 user/arch/x86_64/machine.h user/arch/x86_64/registers.h bpf/hit_action.h \
 user/model/symbol.h user/output/fxt_stream.h user/output/fxt_names.h \
 user/output/fxt_record.h user/output/output.h user/output/shown.h
user/base/array.h:
user/base/sort.h:
user/base/spill.h:
user/base/cleanup.h:
user/input/fxt_read_internal.h:
user/base/hash_index.h:
user/model/timeline.h:
user/model/hit.h:
user/arch/arch.h:
user/arch/x86_64/machine.h:
user/arch/x86_64/registers.h:
bpf/hit_action.h:
user/model/symbol.h:
user/output/fxt_stream.h:
user/output/fxt_names.h:
user/output/fxt_record.h:
user/output/output.h:
user/output/shown.h:
