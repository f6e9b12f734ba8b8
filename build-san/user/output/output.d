build-san/user/output/output.o: user/output/output.c user/output/output.h \
 user/base/cleanup.h user/base/error.h user/base/path.h \
 user/base/write_all.h user/output/gzip.h user/output/zstd_file.h
user/output/output.h:
user/base/cleanup.h:
user/base/error.h:
user/base/path.h:
user/base/write_all.h:
user/output/gzip.h:
user/output/zstd_file.h:
