build-clang/user/output/gzip.o: user/output/gzip.c user/output/gzip.h \
  user/base/cleanup.h

user/output/gzip.h:

user/base/cleanup.h:
