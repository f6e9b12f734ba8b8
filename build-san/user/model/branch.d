build-san/user/model/branch.o: user/model/branch.c user/model/branch.h \
 user/base/array.h
user/model/branch.h:
user/base/array.h:
