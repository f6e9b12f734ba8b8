build-san/user/cli/process_list.o: user/cli/process_list.c \
 user/cli/process_list.h user/base/array.h user/base/error.h \
 user/process/attach_check.h user/process/command_line.h
user/cli/process_list.h:
user/base/array.h:
user/base/error.h:
user/process/attach_check.h:
user/process/command_line.h:
