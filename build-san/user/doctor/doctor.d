build-san/user/doctor/doctor.o: user/doctor/doctor.c user/doctor/doctor.h \
 user/base/array.h user/base/error.h
user/doctor/doctor.h:
user/base/array.h:
user/base/error.h:
