build-clang/user/rebuild/decode.o: user/rebuild/decode.c \
  user/rebuild/decode.h user/base/cleanup.h user/decode/decoder.h \
  user/model/branch.h user/model/snapshot.h bpf/alloc.h \
  user/model/call.h user/model/hit.h user/arch/arch.h \
  user/arch/x86_64/machine.h user/arch/x86_64/registers.h \
  bpf/hit_action.h user/model/sample.h user/model/trace_params.h \
  user/model/timeline.h user/model/symbol.h user/base/array.h \
  user/base/error.h user/base/log.h user/history/history.h \
  user/image/binaries.h user/image/image.h user/elf/inlines.h \
  user/elf/landing.h user/image/jit_symbols.h user/model/slice_cursor.h \
  user/rebuild/decoded.h user/rebuild/input.h user/rebuild/input_file.h \
  user/rebuild/place_allocs.h user/rebuild/place_hits.h \
  user/recording/recording.h user/timeline/range.h

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

user/base/array.h:

user/base/error.h:

user/base/log.h:

user/history/history.h:

user/image/binaries.h:

user/image/image.h:

user/elf/inlines.h:

user/elf/landing.h:

user/image/jit_symbols.h:

user/model/slice_cursor.h:

user/rebuild/decoded.h:

user/rebuild/input.h:

user/rebuild/input_file.h:

user/rebuild/place_allocs.h:

user/rebuild/place_hits.h:

user/recording/recording.h:

user/timeline/range.h:
