build-san/user/trigger/uprobe_multi.o: user/trigger/uprobe_multi.c \
 user/trigger/uprobe_multi.h
user/trigger/uprobe_multi.h:
