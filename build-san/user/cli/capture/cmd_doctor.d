build-san/user/cli/capture/cmd_doctor.o: user/cli/capture/cmd_doctor.c \
 user/cli/cli.h user/base/array.h user/base/error.h user/base/on_line.h \
 user/doctor/doctor.h
user/cli/cli.h:
user/base/array.h:
user/base/error.h:
user/base/on_line.h:
user/doctor/doctor.h:
