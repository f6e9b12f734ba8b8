# What a machine gets: install and uninstall, and the packages made of what install puts into DESTDIR.

VERSION := $(shell sed -n 's/^\#define VERSION "\(.*\)"/\1/p' user/cli/main.c)
# Where zsh looks for a program's own completions; Debian's packages have another place.
ZSH_COMPLETIONS ?= share/zsh/site-functions

# FILE:PLACE below PREFIX
INSTALLED = $(BUILD)/trailcam:bin/trailcam $(BUILD)/libtrailcam-alloc.so:lib/trailcam/libtrailcam-alloc.so docs/trailcam.1:share/man/man1/trailcam.1 user/trailcam.h:include/trailcam.h \
	docs/package/completion.bash:share/bash-completion/completions/trailcam docs/package/completion.zsh:$(ZSH_COMPLETIONS)/_trailcam \
	docs/package/completion.fish:share/fish/vendor_completions.d/trailcam.fish \
	$(foreach f,LICENSE README.md $(wildcard docs/*.md docs/*.svg docs/*.png),$(f):share/doc/trailcam/$(f))

##@ Install
install: all ## the program, its library, manual, header and completions, below PREFIX (/usr/local)
	$(Q)for pair in $(INSTALLED); do \
		case $$pair in *:bin/*) mode=755 ;; *) mode=644 ;; esac; \
		install -D -m $$mode "$${pair%%:*}" "$(DESTDIR)$(PREFIX)/$${pair#*:}" || exit 1; \
	done

uninstall: ## remove what install put there
	$(Q)for pair in $(INSTALLED); do rm -f "$(DESTDIR)$(PREFIX)/$${pair#*:}" || exit 1; done
	$(Q)for dir in share/doc/trailcam/docs share/doc/trailcam lib/trailcam; do [ ! -d "$(DESTDIR)$(PREFIX)/$$dir" ] || \
		rmdir --ignore-fail-on-non-empty "$(DESTDIR)$(PREFIX)/$$dir"; done

deb: all ## a Debian package, in build/
	$(Q)tests/lint/deps.sh dpkg-dev
	$(Q)docs/package/deb.sh $(BUILD) $(VERSION)

# For machines without these libraries: linked statically where Debian has them so, else put beside the
# program.
SHARED_ONLY := -lipt -lisal -lZydis
STATIC_LIBS := $(patsubst -lyajl,-lyajl_s,$(filter-out $(SHARED_ONLY) -lpthread,$(LDLIBS))) -lbz2
$(BUILD)/package/trailcam: $(BUILD)/trailcam
	$(say) LINK $@
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -o $@ $(BUILD)/user/cli/main.o -Wl,--start-group $(LIBS) -Wl,--end-group \
		-pie $(HARDEN_LINK) -Wl,--export-dynamic-symbol=doctor_target -Wl,--disable-new-dtags -Wl,-rpath,'$$ORIGIN/../lib/trailcam' $(LDFLAGS) \
		-Wl,-Bstatic $(STATIC_LIBS) -Wl,-Bdynamic $(SHARED_ONLY) -lpthread

tarball: all ## an archive that needs nothing but a libc
	$(Q)tests/lint/deps.sh libbz2-dev
	$(Q)$(MAKE) --no-print-directory $(BUILD)/package/trailcam
	$(Q)docs/package/tarball.sh $(BUILD) $(VERSION) $(BUILD)/package/trailcam "$(STATIC_LIBS)"
.PHONY: install uninstall deb tarball
