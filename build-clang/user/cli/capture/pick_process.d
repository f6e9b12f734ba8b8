build-clang/user/cli/capture/pick_process.o: \
  user/cli/capture/pick_process.c user/cli/capture/pick_process.h \
  user/base/cleanup.h user/cli/capture/pick.h user/cli/process_list.h

user/cli/capture/pick_process.h:

user/base/cleanup.h:

user/cli/capture/pick.h:

user/cli/process_list.h:
