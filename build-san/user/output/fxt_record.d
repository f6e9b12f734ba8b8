build-san/user/output/fxt_record.o: user/output/fxt_record.c \
 user/output/fxt_record.h user/output/output.h user/base/cleanup.h \
 user/base/error.h user/base/utf8.h
user/output/fxt_record.h:
user/output/output.h:
user/base/cleanup.h:
user/base/error.h:
user/base/utf8.h:
