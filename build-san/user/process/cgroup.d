build-san/user/process/cgroup.o: user/process/cgroup.c \
 user/process/cgroup.h user/base/array.h user/base/error.h
user/process/cgroup.h:
user/base/array.h:
user/base/error.h:
