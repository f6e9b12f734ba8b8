# trailcam: `make help` lists what can be made.
#
# Everything is built under $(BUILD). Variants live in directories of their own:
#	make SAN=1		address and undefined-behaviour sanitizers, in build/san
#	make CC=clang		in build/clang
#	make FUZZ=1		for libFuzzer, in build/fuzz
#	make WERROR=1		warnings are errors
#	make V=1		show the commands

CC := $(if $(FUZZ),clang,$(if $(filter default,$(origin CC)),gcc,$(CC)))
CLANG ?= clang
BPFTOOL ?= $(shell command -v bpftool 2>/dev/null || echo /usr/sbin/bpftool)
PREFIX ?= /usr/local

variant := $(if $(FUZZ),/fuzz,$(if $(SAN),/san)$(if $(filter clang%,$(CC)),/clang))
BUILD ?= build$(variant)

Q := $(if $(V),,@)
say = $(if $(V),@:,@printf '  %-7s %s\n')

WARN := -Wall -Wextra -Wshadow -Wmissing-prototypes -Wstrict-prototypes -Wvla -Wpointer-arith -Wwrite-strings \
	-Wformat=2 $(if $(filter clang%,$(CC)),-Wno-gnu,-Wno-format-truncation) $(if $(WERROR),-Werror)
CFLAGS ?= -O2 -g
comma := ,
SANFLAGS := $(if $(SAN)$(FUZZ),-fsanitize=address$(comma)undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer) \
	$(if $(FUZZ),-fsanitize=fuzzer-no-link)
# The program may be given capabilities, and its library is loaded into others' programs
# (tests/lint/hardening.sh).
FORTIFY := $(if $(SANFLAGS),,$(if $(filter -O0,$(CFLAGS)),,$(if $(filter -O%,$(CFLAGS)),$(shell \
	$(CC) -O2 -D_FORTIFY_SOURCE=3 -Werror -E -include stdlib.h -xc /dev/null >/dev/null 2>&1 && echo 3 || echo 2))))
HARDEN := -fstack-protector-strong -fstack-clash-protection -fcf-protection $(if $(FORTIFY),-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=$(FORTIFY))
HARDEN_LINK := -Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack
ALL_CFLAGS = -std=gnu11 -D_GNU_SOURCE $(CFLAGS) $(WARN) $(SANFLAGS) -fPIE $(HARDEN) -I. -Iuser -I$(BUILD) -MMD -MP
LDLIBS := -lipt -lzstd -lbpf -ldw -lelf -lz -llzma -lisal -lyajl -lncursesw -ltinfo -lZydis -lcap -liberty -lpthread -lm

# The modules, highest row first, and which each may link: user/README.md has the table of layers.
LAYERS := $(shell awk -F '[|`]' '/^\| [0-9]+ \| `/ { print $$2 + 0 ":" $$4 }' user/README.md | sort -t: -k1,1nr)
MODULES := $(foreach layer,$(LAYERS),$(lastword $(subst :, ,$(layer))))
module_srcs = $(sort $(wildcard user/$(1)/*.c))
module_objs = $(patsubst %.c,$(BUILD)/%.o,$(call module_srcs,$(1))) $(patsubst %.S,$(BUILD)/%.o,$(wildcard user/$(1)/*.S))
LIBS := $(foreach m,$(MODULES),$(BUILD)/lib/$(m).a)
USER_OBJS := $(foreach m,$(MODULES),$(call module_objs,$(m)))

# The modules that a module's unit tests may link: itself and those behind it.
BELOW := $(shell printf '%s\n' $(MODULES) | tac | awk '{ below = $$1 "," below; print $$1 "=" below }')
below = $(subst $(comma), ,$(patsubst $(1)=%,%,$(filter $(1)=%,$(BELOW))))

.DEFAULT_GOAL := all
.SECONDARY:
.DELETE_ON_ERROR:
.SUFFIXES:

##@ Build
all: $(BUILD)/trailcam $(BUILD)/libtrailcam-alloc.so ## the program, build/trailcam (default), and its library
.PHONY: all

# The function that doctor probes keeps its name where the program is stripped.
$(BUILD)/trailcam: $(LIBS)
	$(say) LINK $@
	$(Q)$(CC) $(ALL_CFLAGS) -o $@ $(BUILD)/user/cli/main.o -Wl,--start-group $(LIBS) -Wl,--end-group \
		-pie $(HARDEN_LINK) -Wl,--export-dynamic-symbol=doctor_target $(LDFLAGS) $(LDLIBS)

define module_rule
$(BUILD)/lib/$(1).a: $(call module_objs,$(1))
	$$(say) AR $$@
	@mkdir -p $$(@D)
	$$(Q)rm -f $$@ && ar rcsD $$@ $$(filter %.o,$$^)
endef
$(foreach m,$(MODULES),$(eval $(call module_rule,$(m))))

# What was built with other flags is built again, but for warnings.
BUILT_WITH = $(CC) $(CFLAGS) $(SANFLAGS) $(HARDEN) $(HARDEN_LINK) $(LDFLAGS)
$(BUILD)/flags: FORCE
	@mkdir -p $(@D)
	@echo '$(BUILT_WITH)' | cmp -s - $@ || echo '$(BUILT_WITH)' >$@
FORCE:
.PHONY: FORCE

$(BUILD)/%.o: %.c $(BUILD)/flags
	$(say) CC $<
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -c -o $@ $<

# For other programs to load: nothing of the modules is in it, no sanitizer, and its frames have frame
# pointers for who follows those.
PRELOAD_OBJS := $(patsubst %.c,$(BUILD)/%.o,$(wildcard user/preload/*.c))
$(BUILD)/user/preload/%.o: user/preload/%.c $(BUILD)/flags
	$(say) CC $<
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 -D_GNU_SOURCE $(CFLAGS) $(WARN) $(HARDEN) -fPIC -fvisibility=hidden -fno-omit-frame-pointer -Iuser -MMD -MP -c -o $@ $<

$(BUILD)/libtrailcam-alloc.so: $(PRELOAD_OBJS)
	$(say) LINK $@
	$(Q)$(CC) -shared $(HARDEN_LINK) -o $@ $(filter %.o,$^) $(LDFLAGS)

# The runtime of translated programs: a flat file without libc, which the source has in it
# (user/translate/layout.h). Nothing of the build's flags is for it: it has no stack protector, no vector
# registers, no variables.
RUNTIME_OBJS := $(patsubst user/translate/%.c,$(BUILD)/user/translate/%.o,$(wildcard user/translate/*.c)) $(BUILD)/user/translate/code_insn.o \
	$(BUILD)/user/translate/entry.o
RUNTIME_CFLAGS := -std=gnu11 -O2 -g $(WARN) -ffreestanding -fPIE -fvisibility=hidden -mgeneral-regs-only -mno-red-zone -fno-stack-protector \
	-fcf-protection=none -fno-asynchronous-unwind-tables -fno-jump-tables \
	$(if $(filter clang%,$(CC)),-fno-builtin,-fno-tree-loop-distribute-patterns) -Iuser -MMD -MP
$(BUILD)/user/translate/%.o: user/translate/%.c
	$(say) CC $<
	@mkdir -p $(@D)
	$(Q)$(CC) $(RUNTIME_CFLAGS) -c -o $@ $<

$(BUILD)/user/translate/code_insn.o: user/decode/code_insn.c
	$(say) CC $@
	@mkdir -p $(@D)
	$(Q)$(CC) $(RUNTIME_CFLAGS) -c -o $@ $<

$(BUILD)/user/translate/entry.o: user/translate/entry.S user/translate/layout.h user/translate/offsets.h
	$(say) AS $<
	@mkdir -p $(@D)
	$(Q)$(CC) -Iuser -c -o $@ $<

$(BUILD)/user/translate/runtime.bin: user/translate/runtime.ld $(RUNTIME_OBJS)
	$(say) LINK $@
	$(Q)ld -T $< -o $(@:.bin=.elf) $(RUNTIME_OBJS)
	$(Q)objcopy -O binary $(@:.bin=.elf) $@

$(BUILD)/user/source/translate/runtime_file.o: user/source/translate/runtime_file.S $(BUILD)/user/translate/runtime.bin user/translate/layout.h
	$(say) AS $<
	@mkdir -p $(@D)
	$(Q)$(CC) -Iuser -Wa,-I$(BUILD) -c -o $@ $<

# The viewer's page is in the program, and the flame graph's.
$(BUILD)/user/output/html.o: $(wildcard user/output/viewer/*)
$(BUILD)/user/heap/flamegraph.o: user/heap/flamegraph.html

# BPF: one object for every kernel; the skeleton embeds it in the program.
$(BUILD)/bpf/%.bpf.o: bpf/%.bpf.c $(wildcard bpf/*.h) vmlinux/x86_64/vmlinux.h
	$(say) BPF $<
	@mkdir -p $(@D)
	$(Q)$(CLANG) -target bpf -mcpu=v3 -O2 -g -Wall -Wextra -Werror -D__TARGET_ARCH_x86 -I. -Ivmlinux/x86_64 \
		-I/usr/include/x86_64-linux-gnu -c -o $@ $<

$(BUILD)/bpf/%.skel.h: $(BUILD)/bpf/%.bpf.o
	$(say) SKEL $@
	$(Q)$(BPFTOOL) gen skeleton $< name $(subst .,_,$*)_bpf > $@

SKELETONS := $(patsubst bpf/%.bpf.c,$(BUILD)/bpf/%.skel.h,$(wildcard bpf/*.bpf.c))
$(call module_objs,trigger) $(call module_objs,source/alloc) $(call module_objs,source/samples): | $(SKELETONS)

include tests/tests.mk
include docs/package/package.mk

##@ Housekeeping
deps: ## install the Debian packages that are missing
	$(Q)tests/lint/deps.sh $(PACKAGES)

format: ## rewrite the sources with clang-format
	$(Q)clang-format -i $(C_FILES)

clean: ## remove everything that was built
	$(Q)rm -rf build

help: ## this list
	$(Q)awk -F ':.*## ' '/^##@/ { printf "\n%s\n", substr($$0, 5) } /^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' \
		$(MAKEFILE_LIST)
.PHONY: deps format clean help

PACKAGES := gcc make clang llvm bpftool libbpf-dev libipt-dev libelf-dev libdw-dev zlib1g-dev liblzma-dev libzstd-dev libzydis-dev libisal-dev \
	libiberty-dev libcap-dev libyajl-dev libncurses-dev libcmocka-dev linux-perf clang-format
C_FILES = $(shell git ls-files '*.c' '*.h' 2>/dev/null)

-include $(USER_OBJS:.o=.d) $(PRELOAD_OBJS:.o=.d) $(RUNTIME_OBJS:.o=.d)
