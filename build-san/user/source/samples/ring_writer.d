build-san/user/source/samples/ring_writer.o: \
 user/source/samples/ring_writer.c user/source/samples/ring_writer.h \
 bpf/samples.h
user/source/samples/ring_writer.h:
bpf/samples.h:
