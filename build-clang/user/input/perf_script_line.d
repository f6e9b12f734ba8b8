build-clang/user/input/perf_script_line.o: user/input/perf_script_line.c \
  user/input/perf_script_line.h user/model/branch.h user/base/array.h

user/input/perf_script_line.h:

user/model/branch.h:

user/base/array.h:
