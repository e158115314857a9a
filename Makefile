# SPDX-License-Identifier: GPL-2.0
# mtag: page-exact RSS per process and tag.
#   make                 user space into build/
#   make module          the kernel module into build/<release>/mtag.ko (KERNEL=<release>, KDIR=<headers>)
#   make demo | check    in a VM; install what they need
#   make bench           what mtag and other tools cost, in a VM; BASELINE=1: keep the numbers, see docs/performance.md
#   make fuzz            the fuzzers of user space into build/tests/fuzz/, see tests/unit/fuzz.sh
#   make install | dkms  on this machine (uninstall, undkms: take that back)
#   make deb             Debian packages into build/deb/
#   make m32 | static | musl | shared   libmtag for programs of that kind, into build/m32/lib/ …
$(if $(word 2,$(CURDIR)),$(error the path of this tree has a blank, which make cannot deal with: $(CURDIR)))
.DELETE_ON_ERROR:
.SECONDARY:
MAKEFLAGS += --no-builtin-rules
.DEFAULT_GOAL := all

VERSION  := 0.1.0
SOVERSION := 0
B        := build

CC       ?= cc
CXX      ?= c++
CFLAGS   ?= -O2 -g
CXXFLAGS ?= $(CFLAGS)
WARN     := -Wall -Wextra -Werror
PKG      := pkg-config
# What the project's own code needs, whatever CFLAGS says.
OUR_CPPFLAGS := -Iinclude -D_GNU_SOURCE -DMTAG_VERSION='"$(VERSION)"' -MD -MP
OUR_CFLAGS    = -std=c11 $(WARN) -pthread $(OUR_CPPFLAGS) $(CPPFLAGS) $(CFLAGS)
OUR_CXXFLAGS  = -std=c++17 $(WARN) -pthread $(OUR_CPPFLAGS) $(CPPFLAGS) $(CXXFLAGS)
SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer

PREFIX   ?= /usr/local
BINDIR   ?= $(PREFIX)/bin
LIBDIR   ?= $(PREFIX)/lib
INCDIR   ?= $(PREFIX)/include
MANDIR   ?= $(PREFIX)/share/man
COMPDIR  ?= $(PREFIX)/share/bash-completion/completions
ZSHDIR   ?= $(PREFIX)/share/zsh/site-functions
FISHDIR  ?= $(PREFIX)/share/fish/vendor_completions.d
# udev reads no other prefix.
UDEVDIR  ?= $(if $(filter /usr,$(PREFIX)),/usr/lib,/etc)/udev/rules.d
UNITDIR  ?= $(PREFIX)/lib/systemd/system
DESTDIR  ?=

# Bottom-up: a file calls only those before it, tests/style/ctl_layers.sh sees to that.
lib_src := lib/dev.c lib/netlink.c                      # the module
lib_src += lib/sample.c                                 # all tags at one moment
lib_src += lib/out.c lib/json.c lib/dot.c lib/tree.c    # printing them
lib_src += lib/file.c lib/environment.c                 # snapshots without code
lib_src += lib/attach.c lib/thread.c                    # tracking, the threads' words
lib_src += lib/child.c lib/report.c lib/write.c         # calls: tags, all others

# libmtag-heap, likewise, and lib/dev.c.
heap_src := $(addprefix lib/heap/,chance.c table.c)      # drawing samples, keeping them
heap_src += $(addprefix lib/heap/,next.c view.c)         # the allocator behind, the area
heap_src += $(addprefix lib/heap/,self.c tag.c)          # a thread, and its current tag
heap_src += $(addprefix lib/heap/,sampler.c figures.c)   # what is sampled, what the allocator says
heap_src += $(addprefix lib/heap/,slot.c exact.c usage.c) # counting all of it, telling the program
heap_src += $(addprefix lib/heap/,setup.c malloc.c operators.c) # the beginning; what programs call

ctl_src := ctl/utf8.c ctl/parse.c ctl/file.c ctl/kept.c ctl/confine.c # characters, words of the command line, files, processes that read
ctl_src += ctl/stacks/stack.c ctl/model.c ctl/past.c ctl/decode.c          # processes and tags, from messages
ctl_src += ctl/stacks/trace.c ctl/stacks/decode.c       # user stacks, from messages
ctl_src += ctl/kern.c ctl/listen.c ctl/probe.c ctl/cgroup.c # the module, the machine
ctl_src += ctl/fail.c ctl/progress.c ctl/option.c ctl/output.c ctl/stop.c # errors, options, files, signals
ctl_src += $(addprefix ctl/unwind/,image.c recipe.c cfi.c ranges.c table.c cache.c) # unwind tables
ctl_src += ctl/synopsis.c                               # what the table of commands says of options
ctl_src += $(addprefix ctl/format/,fmt.c text.c json.c) # terminal, cells, JSON
ctl_src += $(addprefix ctl/format/,label.c heap.c show.c tree.c spark.c watch.c audit.c event.c history.c doctor.c) # what commands print
ctl_src += $(addprefix ctl/format/,strings.c pairs.c chain.c gzip.c rollup.c)      # what exports are made of
ctl_src += $(addprefix ctl/format/,folded.c dot.c pprof.c speedscope.c openmetrics.c) # exports
ctl_src += $(addprefix ctl/format/,stack.c snapshot.c diff.c)                      # files of samples
ctl_src += $(addprefix ctl/picture/,markup.c scale.c palette.c block.c hue.c timeline.c) # what pictures are made of
ctl_src += $(addprefix ctl/picture/,subject.c icicle.c treemap.c chart.c table.c page.c) # pictures
ctl_src += ctl/format/form.c                            # all forms by their names
ctl_src += $(addprefix ctl/stacks/,demangle.c perfmap.c object.c symbol.c guard.c known.c resolve.c) # functions at addresses
ctl_src += $(addprefix ctl/heaps/,objects.c maps.c parts.c head.c view.c sum.c load.c sites.c)     # the heap beside its pages
ctl_src += $(addprefix ctl/offline/,line.c read.c source.c store.c compare.c rules.c fold.c) # reading and writing these
ctl_src += $(addprefix ctl/stacks/,view.c json.c table.c graph.c)                  # stacks, and how they are shown
ctl_src += $(addprefix ctl/stacks/,needed.c load.c follow.c)                        # unwind tables, to the module
ctl_src += $(addprefix ctl/heaps/,json.c table.c carry.c preload.c)                 # how that is shown, and begun
ctl_src += $(addprefix ctl/doctor/,known.c host.c check.c load.c fit.c switch.c live.c)    # fitness of a kernel
ctl_src += $(addprefix ctl/top/,moment.c rows.c table.c batch.c feed.c view.c frame.c screen.c draw.c live.c) # live
ctl_src += $(addprefix ctl/cmd/,shape.c view.c show.c tree.c play.c watch.c top.c snapshot.c diff.c merge.c run.c track.c stacks.c heap.c limit.c events.c audit.c history.c doctor.c complete.c) # the commands
ctl_src += ctl/main.c                                   # which of them

example_src  := $(wildcard examples/*.c examples/*.cpp)
bench_src    := $(wildcard bench/*.c)
ktest_src    := $(wildcard tests/kernel/*.c tests/kernel/*.cpp)
klib_src     := $(wildcard tests/kernel/lib/*.c)
abi_src      := $(wildcard tests/abi/*.c tests/abi/*.cpp)
unit_src     := $(wildcard tests/unit/*.c tests/unit/*.cpp)

lib_so   := $(B)/lib/libmtag.so.$(SOVERSION)
lib_a    := $(B)/lib/libmtag.a
heap_so  := $(B)/lib/libmtag-heap.so
ktest_a  := $(B)/tests/kernel/lib.a
ctl_bin  := $(if $(ctl_src),$(B)/bin/mtagctl)
lib_bin  := $(if $(lib_src),$(lib_so) $(B)/lib/libmtag.so $(lib_a))
examples := $(addprefix $(B)/,$(basename $(example_src)))
benches  := $(addprefix $(B)/,$(basename $(bench_src)))
ktests   := $(addprefix $(B)/,$(basename $(ktest_src)))
abis     := $(addprefix $(B)/,$(basename $(abi_src)))
units    := $(addprefix $(B)/,$(basename $(unit_src)))

.PHONY: all tools programs benches units
all: tools programs units
tools: $(lib_bin) $(heap_so) $(ctl_bin)
benches: $(benches)
programs: benches $(examples) $(ktests) $(abis) $(B)/tests/plugin.so
units: $(units)

# ---- libmtag ----
lib_shared := $(lib_src:%.c=$(B)/obj/shared/%.o)
lib_static := $(lib_src:%.c=$(B)/obj/static/%.o)

$(B)/obj/shared/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(OUR_CFLAGS) -fPIC -fvisibility=hidden -c -o $@ $<

$(B)/obj/static/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(OUR_CFLAGS) -fPIC -fvisibility=hidden -c -o $@ $<

$(lib_so): $(lib_shared) lib/libmtag.map
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -shared -pthread -Wl,-soname,libmtag.so.$(SOVERSION) -Wl,--version-script=lib/libmtag.map \
		-Wl,-z,defs -Wl,-z,nodelete $(LDFLAGS) -o $@ $(lib_shared)

$(B)/lib/libmtag.so: $(lib_so)
	ln -sf $(<F) $@

$(lib_a): $(lib_static)
	@mkdir -p $(@D)
	rm -f $@
	$(AR) rcs $@ $^

# ---- libmtag-heap: preloaded, so it needs nothing but the C library ----
heap_obj := $(patsubst %.c,$(B)/obj/shared/%.o,$(heap_src) lib/dev.c)
# What the compiler knows of malloc() is not so within malloc().
$(B)/obj/shared/lib/heap/%.o: OUR_CFLAGS += -fno-builtin

$(heap_so): $(heap_obj) lib/heap/libmtag-heap.map
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -shared -pthread -Wl,-soname,$(@F) -Wl,--version-script=lib/heap/libmtag-heap.map \
		-Wl,-z,defs -Wl,-z,nodelete $(LDFLAGS) -o $@ $(heap_obj)

# ---- mtagctl ----
ctl_obj    := $(ctl_src:%.c=$(B)/obj/ctl/%.o)
ctl_pkgs   := libnl-genl-3.0 json-c libprotobuf-c zlib ncursesw libdw libelf
# It has no .pc file. Other kinds of program, see below, have none of these packages.
ctl_libs   := $(if $(filter true,$(PKG)),,-liberty) -lm
# Asked once, where they are wanted first.
pkg_cflags  = $(eval pkg_cflags := $(shell $(PKG) --cflags $(ctl_pkgs)))$(pkg_cflags)
pkg_libs    = $(eval pkg_libs := $(shell $(PKG) --libs $(ctl_pkgs)))$(pkg_libs)
$(ctl_obj): private ctl_cflags = $(pkg_cflags)
# pprof's messages: the code that packs them is made of their description.
ctl_made     := $(B)/gen/profile.pb-c.c
ctl_made_obj := $(ctl_made:%.c=%.o)
$(B)/gen/%.pb-c.c $(B)/gen/%.pb-c.h: ctl/format/%.proto
	@mkdir -p $(@D)
	protoc-c --proto_path=$(<D) --c_out=$(@D) $(<F)
$(B)/gen/%.o: $(B)/gen/%.c
	$(CC) $(OUR_CFLAGS) $(pkg_cflags) -c -o $@ $<
$(B)/obj/ctl/ctl/format/pprof.o: $(B)/gen/profile.pb-c.h
$(B)/obj/ctl/ctl/format/pprof.o: OUR_CPPFLAGS += -I$(B)/gen
# The kernels that the module knows, with the functions that it needs there: its own lists.
known := $(B)/gen/known_lists.h
known_lists := $(wildcard kmod/compat/functions-*.h)
$(known): $(known_lists)
	@mkdir -p $(@D)
	@printf '%s\n' $(^F) | sed -n 's/^functions-\([0-9]*\)\.\([0-9]*\)\.h$$/\1 \2/p' | sort -k 1,1n -k 2,2n | \
		while read -r major minor; do printf 'LIST(%s, %s)\n#include "%s"\nEND\n' $$major $$minor \
		kmod/compat/functions-$$major.$$minor.h; done >$@
$(B)/obj/ctl/ctl/doctor/known.o: $(known)
$(B)/obj/ctl/ctl/doctor/known.o: OUR_CPPFLAGS += -I$(B)/gen -I.
$(B)/obj/ctl/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(OUR_CFLAGS) -Ictl -Ilib $(ctl_cflags) -c -o $@ $<

$(B)/bin/mtagctl: $(ctl_obj) $(ctl_made_obj) $(lib_a)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -pthread $(LDFLAGS) -o $@ $^ $(pkg_libs) $(ctl_libs)

# A newer version, or other flags, in the same tree: all that is installed is compiled anew.
flags_now := $(strip $(VERSION) $(CC) $(CPPFLAGS) $(CFLAGS))
ifneq ($(flags_now),$(file <$(B)/flags))
.PHONY: $(B)/flags
endif
$(B)/flags:
	@mkdir -p $(@D)
	@printf '%s\n' '$(subst ','\'',$(flags_now))' >$@
$(lib_shared) $(lib_static) $(heap_obj) $(ctl_obj) $(ctl_made_obj): $(B)/flags

# ---- one program a file: examples, benchmarks, tests ----
# $(call program,COMPILER AND FLAGS,OBJECTS AND LIBRARIES): makes one of the first prerequisite, in two steps: ccache keeps
# what is compiled, and nothing of what is compiled and linked at once.
define program
$(1) -MF $@.d -MT $@ -c -o $@.o $<
$(1) $(LDFLAGS) -o $@ $@.o $(2)
@rm $@.o
endef
# A line "link: -lfoo …" in a program's source adds to its link line: what only that program needs.
link_of = $(shell sed -n 's|^[ /]\*\{0,1\}/* *link: *||p' $(1) | tr '\n' ' ')
libmtag := $(lib_a)

$(B)/%: %.c $(libmtag)
	@mkdir -p $(@D)
	$(call program,$(CC) $(OUR_CFLAGS),$(libmtag) $(call link_of,$<) -lm)

# Coroutines; the library needs no more than C++17.
$(B)/examples/handoff: OUR_CXXFLAGS += -std=c++20
$(B)/tests/kernel/%: OUR_CPPFLAGS += -Iinclude/compat
# The compiler would leave out pairs of malloc() and free().
$(B)/bench/heap: OUR_CFLAGS += -fno-builtin
$(B)/bench/heap: $(heap_so)
$(B)/%: %.cpp $(libmtag)
	@mkdir -p $(@D)
	$(call program,$(CXX) $(OUR_CXXFLAGS),$(libmtag) $(call link_of,$<) -lm)

# Kernel tests share the functions of tests/kernel/lib. They are linked with -z now: bound lazily, the first call of a
# function runs the dynamic linker, which in a forked child maps 300 KiB of itself and of tables of symbols, and copies
# a page of the stack. RSS would change between a measurement and the one that it is compared with, and the copy would
# be charged to whichever tag is current.
klib_obj := $(klib_src:%.c=$(B)/obj/%.o)
$(klib_obj): $(B)/obj/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(OUR_CFLAGS) -c -o $@ $<

$(ktest_a): $(klib_obj)
	@mkdir -p $(@D)
	rm -f $@
	$(AR) rcs $@ $^

# What it compares with are its own frames.
$(B)/tests/kernel/t_stacks $(B)/tests/kernel/t_stacks_moved $(B)/tests/kernel/t_stacks_users $(B)/tests/kernel/t_heap_numbers: OUR_CFLAGS += -fno-omit-frame-pointer -fno-optimize-sibling-calls
$(B)/tests/kernel/t_stacks_bare $(B)/tests/kernel/t_stacks_moved_bare: OUR_CFLAGS += -O2 -fomit-frame-pointer -fno-optimize-sibling-calls
$(B)/tests/kernel/%: tests/kernel/%.c $(ktest_a) $(libmtag)
	@mkdir -p $(@D)
	$(call program,$(CC) $(OUR_CFLAGS),$(KTEST_LDFLAGS) -z now $(ktest_a) $(libmtag) $(call link_of,$<) -lm)

# What tests/kernel/t_stacks_follow.sh runs, a program and its library: code that only unwind tables can walk.
late       := $(B)/tests/kernel/stacks/late
late_flags  = $(OUR_CFLAGS) -O2 -fomit-frame-pointer
programs: $(late) $(late).so
$(late): tests/kernel/stacks/late.c
	@mkdir -p $(@D)
	$(call program,$(CC) $(late_flags))
$(late).so: tests/kernel/stacks/late.c
	@mkdir -p $(@D)
	$(call program,$(CC) $(late_flags) -DLATE_LIBRARY -fPIC,-shared)

# Unit tests run on the host, checked by the compiler's sanitizers, library included. A unit test of
# mtagctl's or the library's internals includes or names what it needs: "sources: ctl/model.c …".
sources_of = $(call with_made,$(shell sed -n 's|^[ /]\*\{0,1\}/* *sources: *||p' $(1) | sed 's|\*/||' | tr '\n' ' '))
with_made  = $(1) $(if $(filter ctl/format/pprof.c,$(1)),$(ctl_made))
# Files of kmod/ are compiled for user space with the headers of tests/unit/kernel instead of the kernel's.
shim    = $(if $(filter kmod/%,$(1)),-Itests/unit/kernel)
shim_of = $(call shim,$(sources_of))
# Files of C that one includes, as seen from here: the .d file has what the last of several sources includes.
included_of = $(shell sed -n 's|^\#include "\(\.\./\)*\(.*\.c\)"|\2|p' $(1))
unit_cflags = $(OUR_CFLAGS) -O1 $(SANITIZE) -Ictl -Ilib -I$(B)/gen -I. $(pkg_cflags)
# The sources are compiled once for all of them.
checked     = $(patsubst %.c,$(B)/obj/checked/%.o,$(1))
all_checked := $(sort $(call checked,$(lib_src) $(call sources_of,$(filter %.c,$(unit_src)))))
$(B)/obj/checked/ctl/format/pprof.o: $(B)/gen/profile.pb-c.h
$(all_checked): $(B)/obj/checked/%.o: %.c | $(known)
	@mkdir -p $(@D)
	$(CC) $(unit_cflags) $(call shim,$<) -c -o $@ $<
.SECONDEXPANSION:
$(B)/tests/unit/%: tests/unit/%.c $$(call checked,$$(call sources_of,tests/unit/$$*.c)) \
		$$(call included_of,tests/unit/$$*.c) $(call checked,$(lib_src))
	@mkdir -p $(@D)
	$(call program,$(CC) $(unit_cflags) $(call shim_of,$<),$(filter %.o,$^) $(pkg_libs) $(ctl_libs))

# What tests/unit/unwind_* run: code as it is in most programs, without sanitizers.
unwound := $(patsubst %.c,$(B)/%,$(wildcard tests/unit/unwind/*.c))
units $(B)/tests/unit/unwind_walk: $(unwound)
$(unwound): $(B)/%: %.c $$(call sources_of,$$*.c) $$(call included_of,$$*.c)
	@mkdir -p $(@D)
	$(CC) $(OUR_CFLAGS) -O2 -fomit-frame-pointer -Itests/unit/kernel -Ictl $(LDFLAGS) -MF $@.d -o $@ $< \
		$(call sources_of,$<) $(call link_of,$<)

# What tests/unit/heap.sh runs: with the library preloaded, or of its objects if they look inside.
heap_tests := $(patsubst %.c,$(B)/%,$(wildcard tests/unit/heap/*.c))
units: $(heap_tests) $(B)/tests/unit/heap/operators $(heap_so)
$(filter-out %/seeds,$(heap_tests)): $(B)/%: %.c
	@mkdir -p $(@D)
	$(call program,$(CC) $(OUR_CFLAGS) -O2 -fno-builtin -Ilib,-rdynamic $(call link_of,$<) -lm)
# And what mtagctl makes of it.
seeds_ctl := $(addprefix $(B)/obj/ctl/ctl/,utf8.o parse.o stacks/stack.o model.o $(addprefix heaps/,objects.o maps.o parts.o head.o view.o))
$(B)/tests/unit/heap/seeds: tests/unit/heap/seeds.c $(heap_obj) $(seeds_ctl)
	@mkdir -p $(@D)
	$(call program,$(CC) $(OUR_CFLAGS) -O2 -fno-builtin -Ilib -Ictl,$(heap_obj) $(seeds_ctl) -lm)
$(B)/tests/unit/heap/operators: tests/unit/heap/operators.cpp
	@mkdir -p $(@D)
	$(call program,$(CXX) $(OUR_CXXFLAGS) -O2 -fno-builtin -Ilib)

$(B)/tests/unit/%: tests/unit/%.cpp $(lib_a)
	@mkdir -p $(@D)
	$(call program,$(CXX) $(OUR_CXXFLAGS) -O1 $(SANITIZE),$(lib_a) -lm)

# ---- fuzzers: make fuzz, by clang, each with the sources that it names ----
FUZZCC ?= clang
fuzzers := $(patsubst %.c,$(B)/%,$(wildcard tests/fuzz/*.c))
.PHONY: fuzz
fuzz: $(fuzzers)
$(units) $(fuzzers): | $(known)
fuzz_cflags = -std=gnu11 $(WARN) $(OUR_CPPFLAGS) -O1 -g $(SANITIZE) -Ictl -Ilib -I$(B)/gen -I. $(pkg_cflags)
fuzzed      = $(patsubst %.c,$(B)/obj/fuzzed/%.o,$(1))
all_fuzzed := $(sort $(call fuzzed,$(call sources_of,$(wildcard tests/fuzz/*.c))))
$(B)/obj/fuzzed/ctl/format/pprof.o: $(B)/gen/profile.pb-c.h
$(all_fuzzed): $(B)/obj/fuzzed/%.o: %.c | $(known)
	@mkdir -p $(@D)
	$(FUZZCC) $(fuzz_cflags) -fsanitize=fuzzer-no-link $(call shim,$<) -c -o $@ $<
$(B)/tests/fuzz/%: tests/fuzz/%.c $$(call fuzzed,$$(call sources_of,tests/fuzz/$$*.c)) $$(call included_of,tests/fuzz/$$*.c)
	@mkdir -p $(@D)
	$(FUZZCC) $(fuzz_cflags) -fsanitize=fuzzer $(call shim_of,$<) $(LDFLAGS) -MF $@.d -o $@ $< $(filter %.o,$^) \
		$(pkg_libs) $(ctl_libs)

# What tests/abi/dlopen.c loads.
$(B)/tests/plugin.so: tests/abi/plugin/plugin.c $(B)/lib/libmtag.so
	@mkdir -p $(@D)
	$(CC) $(OUR_CFLAGS) -fPIC -shared -Wl,-rpath,'$$ORIGIN/../lib' $(LDFLAGS) -MF $@.d -o $@ $< $(B)/lib/libmtag.so
# And tests/unit/lib_exit.c: it contains libmtag, and can be unloaded.
$(B)/tests/plugin-static.so: tests/abi/plugin/plugin.c $(lib_a)
	@mkdir -p $(@D)
	$(CC) $(OUR_CFLAGS) -fPIC -shared $(LDFLAGS) -MF $@.d -o $@ $< $(lib_a)
$(B)/tests/unit/lib_exit: | $(B)/tests/plugin-static.so

# ---- other kinds of program: make m32 | static | musl | shared, into a tree of its own each ----
# The library, its tests for the host, and what tests/kernel/t_compat32.sh runs. A static program
# cannot replace syscall() as lib_fake does, nor have sanitizers; musl has none; and the 32-bit address
# sanitizer calls syscall() itself before lib_fake is ready. Debian has no C++ compiler for musl. The
# programs of "shared" use the shared library, which all other programs here do not.
kinds := m32 static musl shared
m32_files    := lib/libmtag.a lib/libmtag.so tests/abi/layout tests/abi/headers tests/abi/dlopen \
		tests/plugin.so tests/unit/lib_absent tests/unit/lib_fake tests/unit/lib_fake_threads \
		tests/unit/lib_write tests/unit/lib_environment tests/unit/lib_exit tests/unit/lib_cpp \
		$(addprefix tests/kernel/,calls t_virt t_mremap t_rules_anon t_ioctl_bad)
static_files := lib/libmtag.a tests/abi/layout tests/abi/headers tests/unit/lib_absent \
		tests/unit/lib_cpp tests/kernel/calls
musl_files   := lib/libmtag.a lib/libmtag.so tests/abi/layout tests/abi/dlopen tests/plugin.so \
		tests/unit/lib_absent tests/unit/lib_fake tests/unit/lib_fake_threads \
		tests/unit/lib_write tests/unit/lib_environment tests/unit/lib_exit tests/kernel/calls
shared_files := lib/libmtag.so tests/kernel/calls tests/kernel/heaper

# musl has no headers of the kernel's; those of the other C library are to stay out of sight.
uapi := $(abspath $(B)/musl/uapi)
m32_vars    = CC='$(CC) -m32 -Wno-psabi' CXX='$(CXX) -m32 -Wno-psabi' KTEST_LDFLAGS=-static \
		SANITIZE='-fsanitize=undefined -fno-sanitize-recover=all'
static_vars = LDFLAGS='$(LDFLAGS) -static' SANITIZE=
musl_vars   = CC='musl-gcc -idirafter $(uapi)' SANITIZE= KTEST_LDFLAGS=-static
shared_vars = libmtag=$(B)/shared/lib/libmtag.so

.PHONY: kinds $(kinds)
kinds: $(kinds)
musl: $(uapi)
$(kinds):
	+@$(MAKE) --no-print-directory B=$(B)/$@ PKG=true $($@_vars) $(addprefix $(B)/$@/,$($@_files))

$(uapi):
	@mkdir -p $@
	ln -sfn /usr/include/linux /usr/include/asm-generic /usr/include/$$(gcc -print-multiarch)/asm $@/

# ---- the kernel module ----
# kbuild before 6.13 writes its output beside the sources: it is given a tree of links. BTF needs
# pahole, and nobody needs the module's BTF.
KERNEL ?= $(shell uname -r)
CACHE  := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/mtag
KDIR   ?= $(firstword $(wildcard $(CACHE)/kernels/*/lib/modules/$(KERNEL)/build) /lib/modules/$(KERNEL)/build)
# Where the headers want another release's compiler and libc the cache has a root with them: tests/vm/root.sh.
KROOT  := $(if $(filter $(CACHE)/%,$(KDIR)),$(wildcard $(KDIR:%/lib/modules/$(KERNEL)/build=%/root)))
M      := $(B)/$(KERNEL)

.PHONY: module
module:
	@test -e $(KDIR)/Makefile || { echo "no kernel headers at $(KDIR); say KERNEL=<release> or KDIR=<dir>" >&2; exit 1; }
	@mkdir -p $(M)/kmod $(M)/include && find $(M)/kmod $(M)/include -xtype l -delete
	@cp -rsf $(CURDIR)/Kbuild $(CURDIR)/kmod $(CURDIR)/include $(M)/
	+$(if $(KROOT),tests/vm/in-root $(KROOT)) $(MAKE) --no-print-directory -C $(KDIR) M=$(abspath $(M)) CONFIG_DEBUG_INFO_BTF_MODULES= $(if $(W),W=$(W)) modules

# For tests: one fails allocations of the module's and misses calls of its functions, one hooks the same functions.
test_modules := failnth rival
.PHONY: test-modules $(test_modules)
test-modules: $(test_modules)
$(test_modules):
	@mkdir -p $(M)/$@
	@cp -sf $(CURDIR)/tests/kernel/$@/* $(M)/$@/
	+$(if $(KROOT),tests/vm/in-root $(KROOT)) $(MAKE) --no-print-directory -C $(KDIR) M=$(abspath $(M)/$@) CONFIG_DEBUG_INFO_BTF_MODULES= modules

# ---- installing ----
man_pages := $(wildcard docs/man/*.[1-9])
# For bash, zsh and fish.
completions := $(COMPDIR)/mtagctl $(ZSHDIR)/_mtagctl $(FISHDIR)/mtagctl.fish
system_units := $(wildcard ctl/systemd/*)
compat_headers := $(wildcard include/compat/*.h)
uapi_headers := $(wildcard include/uapi/linux/*.h)
.PHONY: install uninstall dkms undkms deb
install: tools
	install -d $(DESTDIR)$(BINDIR) $(DESTDIR)$(LIBDIR)/pkgconfig $(DESTDIR)$(INCDIR) $(DESTDIR)$(UDEVDIR)
	install -m 755 $(ctl_bin) $(DESTDIR)$(BINDIR)/
	install -m 644 $(lib_so) $(lib_a) $(heap_so) $(DESTDIR)$(LIBDIR)/
	ln -sf libmtag.so.$(SOVERSION) $(DESTDIR)$(LIBDIR)/libmtag.so
	install -m 644 include/mtag.h include/mtag.hpp $(DESTDIR)$(INCDIR)/
	install -d $(DESTDIR)$(INCDIR)/mtag/compat
	install -m 644 $(compat_headers) $(DESTDIR)$(INCDIR)/mtag/compat/
	install -d $(DESTDIR)$(INCDIR)/linux
	install -m 644 $(uapi_headers) $(DESTDIR)$(INCDIR)/linux/
	@mkdir -p $(B)/install
	printf 'includedir=$(INCDIR)\ncompatdir=$${includedir}/mtag/compat\n\nName: libmtag\nDescription: memory tags\nVersion: $(VERSION)\nLibs: -L$(LIBDIR) -lmtag\nLibs.private: -pthread\nCflags: -I$${includedir}\n' \
		> $(B)/install/libmtag.pc
	install -m 644 $(B)/install/libmtag.pc $(DESTDIR)$(LIBDIR)/pkgconfig/
	install -m 644 ctl/60-mtag.rules $(DESTDIR)$(UDEVDIR)/
	for f in $(man_pages); do \
		install -D -m 644 $$f $(DESTDIR)$(MANDIR)/man$${f##*.}/$${f##*/} || exit; done
	for f in $(completions); do install -D -m 644 ctl/completion/$${f##*/} $(DESTDIR)$$f || exit; done
	install -d $(DESTDIR)$(UNITDIR)
	for f in $(system_units); do \
		sed 's|@BINDIR@|$(BINDIR)|' $$f > $(B)/install/$${f##*/} && \
		install -m 644 $(B)/install/$${f##*/} $(DESTDIR)$(UNITDIR)/ || exit; done
	if [ -z "$(DESTDIR)" ]; then ldconfig; fi

uninstall:
	if [ -z "$(DESTDIR)" ] && command -v systemctl >/dev/null; then \
		systemctl -q disable --now $(notdir $(filter %.timer,$(system_units))) || :; fi
# Or node_exporter would show the past for ever.
	if [ -z "$(DESTDIR)" ]; then rm -f /var/lib/prometheus/node-exporter/mtag.prom; fi
	rm -f $(addprefix $(DESTDIR),$(BINDIR)/mtagctl $(LIBDIR)/libmtag.so $(LIBDIR)/libmtag.so.$(SOVERSION) \
		$(LIBDIR)/libmtag.a $(LIBDIR)/libmtag-heap.so $(LIBDIR)/pkgconfig/libmtag.pc $(INCDIR)/mtag.h $(INCDIR)/mtag.hpp \
		$(addprefix $(INCDIR)/mtag/compat/,$(notdir $(compat_headers))) $(addprefix $(INCDIR)/linux/,$(notdir $(uapi_headers))) \
		$(UDEVDIR)/60-mtag.rules $(completions) $(addprefix $(UNITDIR)/,$(notdir $(system_units))))
	rmdir $(addprefix $(DESTDIR)$(INCDIR)/,mtag/compat mtag linux) 2>/dev/null || true
	rm -f $(foreach f,$(man_pages),$(DESTDIR)$(MANDIR)/man$(subst .,,$(suffix $f))/$(notdir $f))
	if [ -z "$(DESTDIR)" ]; then ldconfig; fi

dkms_src  := /usr/src/mtag-$(VERSION)
boot_conf := /etc/modules-load.d/mtag.conf
# The package and this would take the same files from each other.
no_package = ! dpkg-query -W -f '$${db:Status-Status}' mtag-dkms 2>/dev/null | grep -qx installed || \
	{ echo "the package mtag-dkms is installed: it has the module" >&2; exit 1; }
dkms:
	@command -v dkms >/dev/null || { echo "needs dkms and linux-headers-$$(uname -r)" >&2; exit 1; }
	@$(no_package)
	$(forget_dkms)
	install -d $(dkms_src)/include
	cp -r Kbuild dkms.conf kmod $(dkms_src)/
	cp -r include/uapi $(dkms_src)/include/
	dkms add -m mtag -v $(VERSION)
	install -D -m 644 ctl/mtag.conf $(boot_conf)
	kmod/dkms.sh build $(VERSION); built=$$?; kmod/dkms.sh load && exit $$built

undkms:
	@$(no_package)
	kmod/dkms.sh unload
	$(forget_dkms)
	rm -f $(boot_conf)

# Every version, for every kernel.
define forget_dkms
	for v in $$(dkms status -m mtag | sed -n 's|^mtag[/, ]*\([^,: ]*\).*|\1|p' | sort -u); do \
		dkms remove -m mtag -v $$v --all && rm -rf /usr/src/mtag-$$v || exit; done
endef

# ---- Debian packages, from a copy of the tree: the checkout stays as it is ----
deb_dir := $(B)/deb
deb:
	@tests/lib/deps deb
	rm -rf $(deb_dir)
	mkdir -p $(deb_dir)/mtag-$(VERSION)
	if git ls-files --error-unmatch Makefile >/dev/null 2>&1; then git ls-files -z -co --exclude-standard; \
		else find . -path ./$(B) -prune -o -type f -print0; fi | \
		tar -c --ignore-failed-read --null -T - | tar -x -C $(deb_dir)/mtag-$(VERSION)
	cd $(deb_dir)/mtag-$(VERSION) && dpkg-buildpackage -us -uc
	@ls $(deb_dir)/*.deb

# ---- running ----
.PHONY: demo check check-long bench deps clean
demo:
	@tests/lib/deps demo
	@$(MAKE) -s tools programs
	@tests/vm/run --kernel 6.1 --mem 2G -- examples/demo.sh

check:
	@tests/run-all

check-long:
	@tests/run-all --long

bench:
	@tests/lib/deps bench
	@bench/run $(if $(BASELINE),--baseline)

deps:
	@tests/lib/deps build vm demo check

clean:
	rm -rf $(B)

-include $(shell find $(B)/obj $(B)/examples $(B)/bench $(B)/tests -name '*.d' 2>/dev/null)
