build-clang/user/doctor/rights.o: user/doctor/rights.c \
  user/doctor/doctor.h

user/doctor/doctor.h:
