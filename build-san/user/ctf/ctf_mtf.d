build-san/user/ctf/ctf_mtf.o: user/ctf/ctf_mtf.c user/ctf/ctf_mtf.h
user/ctf/ctf_mtf.h:
