build-san/user/doctor/settings.o: user/doctor/settings.c \
 user/base/cleanup.h user/base/reading.h user/doctor/doctor.h \
 user/process/proc_status.h
user/base/cleanup.h:
user/base/reading.h:
user/doctor/doctor.h:
user/process/proc_status.h:
