build-clang/user/timeline/estimate.o: user/timeline/estimate.c \
  user/timeline/estimate.h

user/timeline/estimate.h:
