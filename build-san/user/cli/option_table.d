build-san/user/cli/option_table.o: user/cli/option_table.c \
 user/cli/option_table.h user/base/edit_distance.h
user/cli/option_table.h:
user/base/edit_distance.h:
