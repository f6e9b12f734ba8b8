build-san/user/output/fxt_stream.o: user/output/fxt_stream.c \
 user/output/fxt_stream.h user/base/cleanup.h user/output/fxt_names.h \
 user/model/symbol.h user/output/fxt_record.h user/output/output.h \
 user/base/error.h user/base/log.h
user/output/fxt_stream.h:
user/base/cleanup.h:
user/output/fxt_names.h:
user/model/symbol.h:
user/output/fxt_record.h:
user/output/output.h:
user/base/error.h:
user/base/log.h:
