# Tests: unit tests stand where what they test stands. tests/unit/MODULE/test_X.c is one program and links
# MODULE and the rows below it. tests/e2e/ runs the whole program.

UNIT_SRCS := $(sort $(wildcard tests/unit/*/test_*.c tests/unit/*/*/test_*.c))
UNIT_TESTS := $(patsubst %.c,$(BUILD)/%,$(UNIT_SRCS))
# Those that take longest begin first, so that no processor is idle at the end.
E2E_FIRST := $(patsubst %,tests/e2e/%.sh,vm vm_perf vm_6.1 translate agree calls run examples wrap attach view odd foreign)
# Those that run by themselves, with unit tests beside them: returns.sh judges calls by how long they take;
# crowds.sh has a third of all process numbers, and scripts that end kill numbers that may be its by then.
# Everything else passes beside others, and beside strangers' probes.
E2E_ALONE := tests/e2e/returns.sh tests/e2e/crowds.sh
E2E_TESTS := $(E2E_FIRST) $(filter-out %/lib.sh $(E2E_FIRST),$(sort $(wildcard tests/e2e/*.sh)))
TEST_PROGRAMS := $(patsubst %.c,$(BUILD)/%,$(wildcard tests/programs/*.c)) \
	$(patsubst %.cc,$(BUILD)/%,$(wildcard tests/programs/*.cc)) $(patsubst %.S,$(BUILD)/%,$(wildcard tests/programs/*.S)) \
	$(patsubst %,$(BUILD)/tests/programs/%-static,exits hot odd rules server throws wordcount)
# Fuzz targets, to replay the inputs that are kept, or with libFuzzer (FUZZ=1).
FUZZ_TARGETS := $(patsubst tests/fuzz/targets/%.c,%,$(wildcard tests/fuzz/targets/*.c))
FUZZ_REPLAYS := $(patsubst %,$(BUILD)/tests/fuzz/replay/%,$(FUZZ_TARGETS))
FUZZ_SECONDS ?= 60
ORACLES := $(patsubst %.c,$(BUILD)/%,$(wildcard tests/oracle/*.c))
# What the tests need beyond what the build does: programs of other languages to record, and the other
# decoder.
TEST_PACKAGES := g++ golang-go nodejs ocaml-nox python3 rustc gperf hexyl runc podman fzf bsdutils linux-perf util-linux procps libcap2-bin xz-utils zstd \
	qemu-system-x86 valgrind busybox-static gcc-12 zsh fish dpkg-dev chromium firefox-esr \
	musl-tools libjemalloc2 libtcmalloc-minimal4 libmimalloc2.0 tmux sqlite3 luajit redis-server redis-tools

define unit_rule
$(BUILD)/tests/unit/$(1)/%: tests/unit/$(1)/%.c $(foreach m,$(call below,$(1)),$(BUILD)/lib/$(m).a)
	$$(say) TEST $$@
	@mkdir -p $$(@D)
	$$(Q)$$(CC) $$(ALL_CFLAGS) -Werror=unused-function -Itests -o $$@ $$< -Wl,--start-group \
		$$(filter %.a,$$^) -Wl,--end-group $$(LDFLAGS) $$(LDLIBS) -lcmocka -lyajl
endef
$(foreach m,$(MODULES),$(eval $(call unit_rule,$(m))))

# The wrapper of the allocator without its probes, which the test stands for; as in the library, without
# sanitizers.
$(BUILD)/tests/unit/preload/%: tests/unit/preload/%.c $(addprefix user/base/,error.c on_line.c utf8.c) $(filter-out %/probes.o,$(PRELOAD_OBJS))
	$(say) TEST $@
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 -D_GNU_SOURCE $(CFLAGS) $(WARN) -Werror=unused-function -fno-builtin -MMD -MP -Itests -Iuser -o $@ \
		$(filter %.c %.o,$^) -lcmocka -lm -lpthread

# The programs that tests trace are built the same way whatever the variant: nothing of ours is linked in.
PROGRAM_CFLAGS := -O1 -g -Wall -Wextra -fno-omit-frame-pointer
$(BUILD)/tests/programs/%: tests/programs/%.c
	$(say) PROGRAM $@
	@mkdir -p $(@D)
	$(Q)gcc -I. $(PROGRAM_CFLAGS) -o $@ $< -pthread

$(BUILD)/tests/programs/%: tests/programs/%.cc
	$(say) PROGRAM $@
	@mkdir -p $(@D)
	$(Q)g++ $(PROGRAM_CFLAGS) -o $@ $<

# The same without a dynamic loader, which takes three quarters of the time where a whole run is stepped. Of
# C++ only its own library is inside: the unwinder of a wholly static program begins by sorting all of its
# tables. The linker warns of dlopen(3), which they do not call then.
$(BUILD)/tests/programs/%-static: tests/programs/%.c
	$(say) PROGRAM $@
	@mkdir -p $(@D)
	$(Q)gcc -I. $(PROGRAM_CFLAGS) -static -Wl,--no-warnings -o $@ $< -pthread

$(BUILD)/tests/programs/%-static: tests/programs/%.cc
	$(say) PROGRAM $@
	@mkdir -p $(@D)
	$(Q)g++ $(PROGRAM_CFLAGS) -no-pie -static-libstdc++ -static-libgcc -o $@ $<

# Without libc, at fixed addresses: for golden files.
$(BUILD)/tests/programs/%: tests/programs/%.S
	$(say) PROGRAM $@
	@mkdir -p $(@D)
	$(Q)gcc -nostdlib -static -no-pie -o $@ $<

##@ Test
test: ## everything that can be tested here, after installing what is missing
	$(Q)tests/lint/deps.sh $(PACKAGES) $(TEST_PACKAGES)
	$(Q)$(MAKE) --no-print-directory run-tests

run-tests: all $(UNIT_TESTS) $(TEST_PROGRAMS) $(FUZZ_REPLAYS) $(BUILD)/tests/fuzz/damage $(ORACLES)
	$(Q)BUILD=$(BUILD) ALONE="$(E2E_ALONE)" BESIDE="$(UNIT_TESTS)" tests/run.sh $(E2E_TESTS) $(UNIT_TESTS)

test-vm: ## the intel_pt source on the kernel's own driver, in virtual machines
	$(Q)tests/lint/deps.sh $(PACKAGES) $(TEST_PACKAGES)
	$(Q)$(MAKE) --no-print-directory all $(TEST_PROGRAMS) $(ORACLES)
	$(Q)BUILD=$(BUILD) tests/run.sh $(wildcard tests/e2e/vm*.sh)

damage: all $(TEST_PROGRAMS) $(FUZZ_REPLAYS) $(BUILD)/tests/fuzz/damage $(ORACLES) ## damaged recordings (with SAN=1: under the sanitizers)
	$(Q)BUILD=$(BUILD) tests/run.sh tests/e2e/damage.sh

unit: $(UNIT_TESTS) $(TEST_PROGRAMS) ## the unit tests only
	$(Q)BUILD=$(BUILD) tests/run.sh $(UNIT_TESTS)

lint: all ## layering, documents, formatting, headers, how the program is built
	$(Q)tests/lint/layers.sh
	$(Q)tests/lint/prose.sh
	$(Q)tests/lint/hardening.sh $(BUILD)/trailcam $(BUILD)/libtrailcam-alloc.so
	$(Q)clang-format --dry-run --Werror $(C_FILES)

demo: ## set up, build, and record the bundled example
	$(Q)tests/lint/deps.sh $(PACKAGES)
	$(Q)$(MAKE) --no-print-directory all $(BUILD)/tests/programs/wordcount
	$(Q)tests/demo.sh $(BUILD)

bench: ## rates and sizes, side by side in one run; QUIET=1: one line for each goal
	$(Q)tests/lint/deps.sh $(PACKAGES) valgrind linux-perf python3 chromium
	$(Q)$(MAKE) --no-print-directory $(if $(QUIET),bench-goals,bench-all)

bench-goals: all $(patsubst %,$(BUILD)/tests/bench/%,lackey repeat decoders sampling)
	$(Q)tests/bench/goals.sh $(BUILD)

bench-compare: $(BUILD)/tests/bench/lackey $(BUILD)/tests/bench/decoders ## decoding by this revision and by REV, by turns in one run
	$(Q)tests/bench/compare.sh $(BUILD) $(REV)

bench-large: all $(BUILD)/tests/bench/lackey $(BUILD)/tests/bench/repeat ## a recording of 1 GB to .fxt.gz: memory and temporary files
	$(Q)tests/bench/large.sh $(BUILD)

bench-all:
	$(Q)$(MAKE) --no-print-directory all $(patsubst %,$(BUILD)/tests/bench/%,bench trigger snapshots lackey repeat decoders allocations recording memtrace sampling) \
		$(BUILD)/tests/programs/wordcount
	$(Q)tests/bench/decoding.sh $(BUILD) -p
	$(Q)$(BUILD)/tests/bench/bench $(BUILD)/tests/programs/wordcount
	$(Q)$(BUILD)/tests/bench/trigger
	$(Q)$(BUILD)/tests/bench/snapshots $(BUILD)/trailcam
	$(Q)$(BUILD)/tests/bench/allocations $(BUILD)/libtrailcam-alloc.so
	$(Q)$(BUILD)/tests/bench/recording $(BUILD)/trailcam
	$(Q)$(BUILD)/tests/bench/memtrace
	$(Q)tests/bench/picture.py $(BUILD)
	$(Q)tests/bench/page.py $(BUILD)
	$(Q)tests/bench/translate.sh $(BUILD)
	$(Q)$(BUILD)/tests/bench/sampling

$(BUILD)/tests/fuzz/replay/%: tests/fuzz/targets/%.c $(if $(FUZZ),,tests/fuzz/replay.c) $(LIBS)
	$(say) FUZZ $@
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) $(if $(FUZZ),-fsanitize=fuzzer) -o $@ $(filter %.c,$^) -Wl,--start-group \
		$(filter-out %/cli.a,$(LIBS)) -Wl,--end-group $(LDFLAGS) $(LDLIBS)

# New inputs stay in build/fuzz/corpus; those worth keeping are added to tests/fuzz/corpus by hand.
fuzz: all $(BUILD)/tests/programs/random ## each reader against random input for FUZZ_SECONDS (60), under the sanitizers; translated random programs
	$(Q)tests/lint/deps.sh $(PACKAGES) libclang-rt-14-dev
	$(Q)tests/fuzz/translated.sh $(BUILD) $(FUZZ_SECONDS)
	$(Q)$(MAKE) --no-print-directory FUZZ=1 fuzz-all

fuzz-all: all $(FUZZ_REPLAYS) $(BUILD)/tests/programs/exits
	$(Q)for target in $(FUZZ_TARGETS); do \
		mkdir -p $(BUILD)/corpus/$$target; \
		tests/fuzz/seeds.sh $$target $(BUILD)/corpus/$$target; \
		$(BUILD)/tests/fuzz/replay/$$target -max_total_time=$(FUZZ_SECONDS) -timeout=20 -rss_limit_mb=4096 -max_len=65536 -verbosity=1 \
			-artifact_prefix=$(BUILD)/$$target- $(BUILD)/corpus/$$target tests/fuzz/corpus/$$target || exit 1; \
	done

# Programs of ours that use the modules as the command line does.
define tool_rule
$(BUILD)/tests/$(1)/%: tests/$(1)/%.c $(LIBS)
	$$(say) TOOL $$@
	@mkdir -p $$(@D)
	$$(Q)$$(CC) $$(ALL_CFLAGS) -o $$@ $$< -Wl,--start-group $$(filter-out %/cli.a,$(LIBS)) -Wl,--end-group $$(LDFLAGS) \
		$$(LDLIBS)
endef
$(foreach d,bench fuzz oracle,$(eval $(call tool_rule,$(d))))
.PHONY: test test-vm fuzz fuzz-all run-tests damage unit lint demo bench bench-all bench-goals bench-compare bench-large

-include $(UNIT_TESTS:=.d)
