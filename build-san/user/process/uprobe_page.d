build-san/user/process/uprobe_page.o: user/process/uprobe_page.c \
 user/process/uprobe_page.h user/base/array.h
user/process/uprobe_page.h:
user/base/array.h:
