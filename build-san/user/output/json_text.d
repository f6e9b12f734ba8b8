build-san/user/output/json_text.o: user/output/json_text.c \
 user/output/json_text.h user/output/output.h user/base/cleanup.h \
 user/base/utf8.h
user/output/json_text.h:
user/output/output.h:
user/base/cleanup.h:
user/base/utf8.h:
