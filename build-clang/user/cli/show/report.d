build-clang/user/cli/show/report.o: user/cli/show/report.c \
  user/cli/show/report.h user/cli/terminal.h user/rebuild/decode.h \
  user/base/cleanup.h user/decode/decoder.h user/model/branch.h \
  user/model/snapshot.h bpf/alloc.h user/model/call.h user/model/hit.h \
  user/arch/arch.h user/arch/x86_64/machine.h \
  user/arch/x86_64/registers.h bpf/hit_action.h user/model/sample.h \
  user/model/trace_params.h user/model/timeline.h user/model/symbol.h \
  user/timeline/estimate.h user/timeline/lead_up.h \
  user/timeline/profile.h user/timeline/waits.h user/base/hash_index.h \
  user/base/array.h user/base/edit_distance.h user/base/error.h \
  user/base/sort.h user/base/spill.h user/timeline/profile_diff.h

user/cli/show/report.h:

user/cli/terminal.h:

user/rebuild/decode.h:

user/base/cleanup.h:

user/decode/decoder.h:

user/model/branch.h:

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

user/model/timeline.h:

user/model/symbol.h:

user/timeline/estimate.h:

user/timeline/lead_up.h:

user/timeline/profile.h:

user/timeline/waits.h:

user/base/hash_index.h:

user/base/array.h:

user/base/edit_distance.h:

user/base/error.h:

user/base/sort.h:

user/base/spill.h:

user/timeline/profile_diff.h:
