build-san/user/ctf/ctf_input.o: user/ctf/ctf_input.c user/ctf/ctf_input.h \
 user/base/cleanup.h user/base/error.h user/base/spill.h
user/ctf/ctf_input.h:
user/base/cleanup.h:
user/base/error.h:
user/base/spill.h:
