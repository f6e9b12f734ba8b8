build-clang/user/output/zstd_file.o: user/output/zstd_file.c \
  user/output/zstd_file.h user/base/write_all.h

user/output/zstd_file.h:

user/base/write_all.h:
