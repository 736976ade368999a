# edb: one SQLite loadable extension.  See README.md; `make help` lists the targets.
#
#   make SANITIZE=1     address and undefined-behaviour sanitizers, into build/asan
#   make COVER=1        gcov instrumentation, into build/cover
#   make FUZZING=1      libFuzzer's, with both sanitizers; clang only, into build/fuzzing
#   make WERROR=1       warnings are errors (lint and CI)
#   make B=DIR          another build folder; edb.so then stands in it
#   make V=1            shows the commands

FOLDERS := ext drivers tds tls crypto
PREFIX  ?= /usr/local
TCLSH   ?= tclsh

# edb.so stands at the top level for the ordinary build, in the build folder for any other.
ifdef SANITIZE
  B := build/asan
else ifdef COVER
  B := build/cover
else ifdef FUZZING
  B := build/fuzzing
else
  B := build
endif
SO := $(if $(filter build,$(B)),edb.so,$(B)/edb.so)

WARNINGS := -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wstrict-prototypes \
  -Wmissing-prototypes -Wwrite-strings -Wcast-qual -Wundef -Wvla -Wformat=2 \
  -Wimplicit-fallthrough -Wdouble-promotion
OPTIMIZE := -O2 -g
LINK     := -Wl,-z,defs -Wl,-z,relro -Wl,-z,now -Wl,--as-needed
ifdef WERROR
  WARNINGS += -Werror
endif
ifdef SANITIZE
  OPTIMIZE := -O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all
  # Stays loaded to the end, so that reports of leaks can name its functions.
  LINK += -Wl,-z,nodelete
endif
ifdef COVER
  OPTIMIZE := -O0 -g --coverage
endif
ifdef FUZZING
  OPTIMIZE := -O1 -g -fno-omit-frame-pointer -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all
endif
ALL_CFLAGS := -std=c11 -D_GNU_SOURCE $(WARNINGS) -fvisibility=hidden -fPIC $(OPTIMIZE) $(CFLAGS)

# $(call say,WHAT,FILE) goes before a command, which is itself shown where V is set.
say = $(if $(V),,@printf '  %-5s %s\n' $(1) $(2);)

SOURCES := $(wildcard $(FOLDERS:%=%/*.c))
OBJECTS := $(SOURCES:%.c=$(B)/%.o)
UNITS   := $(patsubst test/unit/%.c,$(B)/unit/%,$(wildcard test/unit/*.c))
# crypto/ once more with 128-bit products forced off, for the unit tests that say `** also: nou128`.
NOU128  := $(patsubst %.c,$(B)/nou128/%.o,$(wildcard crypto/*.c))
UNITS   += $(patsubst test/unit/%.c,$(B)/nou128/unit/%,\
  $(shell grep -ls '^\*\* also: nou128$$' test/unit/*.c))

# crypto/ by lines of text, for the suites over other people's vectors.
UNITS   += $(if $(wildcard test/vector_host.c),$(B)/vector_host $(B)/nou128/vector_host)
# tls/'s judgement of chains, by lines of text.
UNITS   += $(if $(wildcard test/chain_host.c),$(B)/chain_host)
UNITS   += $(if $(wildcard test/tlsc.c),$(B)/tlsc $(B)/nou128/tlsc)

# The proxy that breaks connections off between messages: nothing of the product is in it.
UNITS   += $(if $(wildcard test/faultproxy.c),$(B)/faultproxy)

# Fuzz targets: over their corpora by replay.c in `make test`, by libFuzzer in `make fuzz`.
FUZZERS := $(patsubst test/fuzz/%.c,$(B)/fuzz/%,$(filter-out test/fuzz/replay.c,$(wildcard test/fuzz/*.c)))
UNITS   += $(FUZZERS)
SECONDS ?= 60

# The test server for TDS: nothing of the product is in it.
TDSD := $(patsubst %.c,$(B)/%.o,$(wildcard test/tdsd/*.c))

# The ODBC driver that lies, with SQLWCHAR entry points and with SQLCHAR ones.
LIARS := $(if $(wildcard test/liar/*.c),$(B)/liar.so $(B)/liar_ansi.so)

# With SUITE, those that are named, and what the suites that run programs are made of.
WANTED := $(if $(SUITE),$(filter-out $(B)/unit/% $(B)/nou128/unit/% $(FUZZERS),$(UNITS)) \
  $(filter $(foreach suite,$(subst *,%,$(SUITE)),$(B)/unit/$(suite) $(B)/nou128/unit/$(suite)),$(UNITS)) \
  $(if $(filter fuzz,$(SUITE)),$(FUZZERS)),$(UNITS))

# What a target needs installed; test/setup prints nothing when all is there.  EDB_SETUP=done is
# how a make that is run by another one knows that this was seen to.
SETUP := build $(filter demo test ct asan cover lint bench mutations fuzz,$(MAKECMDGOALS)) \
  $(if $(filter test-interop,$(MAKECMDGOALS)),interop) $(if $(filter format,$(MAKECMDGOALS)),lint) $(if $(filter faults fuzz-sql slt,$(MAKECMDGOALS)),test)

export EDB_SO := $(abspath $(SO))
export EDB_BUILD_DIR := $(abspath $(B))

.PHONY: all help setup units fuzzers demo test faults fuzz-sql slt test-interop ct bench lint asan fuzz cover mutations format install \
  clean FORCE
.DELETE_ON_ERROR:

all: $(SO)

help:
	@echo 'make               edb.so'
	@echo 'make demo          the main job on a SQLite file as the remote server'
	@echo 'make test          every suite, against servers of its own; SUITE=NAME runs one, SQLITE=newer in a newer SQLite'
	@echo 'make faults        writing, broken off at every message; FAULTS=n rounds'
	@echo 'make fuzz-sql      random queries against a local copy; DRIVER= SERVER= QUERIES= SECONDS= SEED= ONLY='
	@echo 'make slt           files of sqllogictest over remote tables; FILES= DRIVER= (WRITES=edb writes through edb)'
	@echo 'make test-interop  other clients and hosts, where they can be had'
	@echo 'make ct            whether time or addresses in crypto/ depend on secrets; CASE=NAME'
	@echo 'make asan          the tests under the sanitizers'
	@echo 'make fuzz          mutated input under the sanitizers; CASE=NAME and SECONDS=n'
	@echo 'make lint          formatting, warnings, includes, exports; CHECK=NAME runs one check'
	@echo 'make bench         edb and its peers; CASE=NAME and ROUNDS=n'
	@echo 'make cover         the tests, then the lines that they ran'
	@echo 'make mutations     breaks edb on purpose, to see whether the tests notice; FILE=NAME'
	@echo 'make format        clang-format over the C files'
	@echo 'make install       into $$(DESTDIR)$$(PREFIX)/lib/sqlite3'
	@echo 'make clean'

setup:
ifneq ($(EDB_SETUP),done)
	@sh test/setup $(SETUP)
endif

# Building ---------------------------------------------------------------------------------------

$(SO): $(OBJECTS) $(B)/flags
	$(call say,LINK,$@)$(CC) $(ALL_CFLAGS) -shared $(LINK) $(LDFLAGS) -o $@ $(OBJECTS) -ldl

$(B)/%.o: %.c $(B)/flags | setup
	@mkdir -p $(@D)
	$(call say,CC,$<)$(CC) $(ALL_CFLAGS) $(DEFINE) -MMD -MP -c -o $@ $<

# crypto/ is 2.5 times slower at -Os than at -O3.
ifeq ($(SANITIZE)$(COVER),)
$(B)/crypto/%.o: DEFINE = -O3
$(B)/nou128/crypto/%.o: DEFINE = -O3
endif

$(B)/nou128/%.o: %.c $(B)/flags | setup
	@mkdir -p $(@D)
	$(call say,CC,$@)$(CC) $(ALL_CFLAGS) $(DEFINE) -DECR_NO_U128 -MMD -MP -c -o $@ $<

# Files that change only when what they hold changes, so that other flags or a new commit rebuild
# what depends on them.
$(B)/flags: FORCE | setup
	@mkdir -p $(@D)
	@printf '%s\n' '$(CC) $(ALL_CFLAGS) $(LINK) $(LDFLAGS)' | cmp -s - $@ || \
	  printf '%s\n' '$(CC) $(ALL_CFLAGS) $(LINK) $(LDFLAGS)' >$@

$(B)/stamp: FORCE | setup
	@mkdir -p $(@D)
	@stamp="$$(git describe --always --dirty --tags 2>/dev/null || echo unknown), \
	$$($(CC) --version | sed 1q)"; \
	echo "$$stamp" | cmp -s - $@ || echo "$$stamp" >$@

$(B)/ext/version.o: $(B)/stamp
$(B)/ext/version.o: DEFINE = -DEDB_BUILD='"$(shell cat $(B)/stamp 2>/dev/null)"'

# C unit tests link the objects that they use, and SQLite where they open a database.
units: $(UNITS) $(LIARS)

$(B)/libedb.a: $(OBJECTS)
	@rm -f $@
	$(call say,AR,$@)$(AR) rcs $@ $^

$(B)/nou128/libcrypto-edb.a: $(NOU128)
	@rm -f $@
	$(call say,AR,$@)$(AR) rcs $@ $^

$(B)/nou128/unit/%: test/unit/%.c $(B)/nou128/libcrypto-edb.a | setup
	@mkdir -p $(@D)
	$(call say,UNIT,$@)$(CC) $(ALL_CFLAGS) -DECR_NO_U128 -I. -MMD -MP -MF $@.d -MT $@ $(LINK) $(LDFLAGS) -o $@ $< \
	  $(B)/nou128/libcrypto-edb.a -ldl -lm -lpthread

# Certificates and the servers that misbehave are made by libcrypto.
$(B)/unit/tls_rogue% $(B)/unit/root%: PEER = -lcrypto

# The lying ODBC driver as the driver manager sees it.
$(B)/unit/liar: PEER = -lodbc

$(B)/unit/%: test/unit/%.c $(B)/libedb.a | setup
	@mkdir -p $(@D)
	$(call say,UNIT,$<)$(CC) $(ALL_CFLAGS) -I. -MMD -MP -MF $@.d -MT $@ $(LINK) $(LDFLAGS) -o $@ $< $(B)/libedb.a \
	  $(PEER) -lsqlite3 -ldl -lm -lpthread

# Objects before the archive: a target may define what it replaces.
$(B)/fuzz/%: test/fuzz/%.c test/fuzz/replay.c $(B)/libedb.a | setup
	@mkdir -p $(@D)
	$(call say,FUZZ,$<)$(CC) $(ALL_CFLAGS) $(if $(FUZZING),-fsanitize=fuzzer) -I. -MMD -MP -MF $@.d -MT $@ $(LINK) $(LDFLAGS) \
	  -o $@ $< $(if $(FUZZING),,test/fuzz/replay.c) $(B)/libedb.a -ldl -lm

fuzzers: $(FUZZERS)

$(B)/vector_host: test/vector_host.c $(B)/libedb.a | setup
	@mkdir -p $(@D)
	$(call say,HOST,$@)$(CC) $(ALL_CFLAGS) -MMD -MP -MF $@.d -MT $@ $(LINK) $(LDFLAGS) -o $@ $< $(B)/libedb.a -ldl -lm

# The TLS client as a program, and once more without 128-bit products.
$(B)/tlsc: test/tlsc.c $(B)/libedb.a | setup
	@mkdir -p $(@D)
	$(call say,HOST,$@)$(CC) $(ALL_CFLAGS) -MMD -MP -MF $@.d -MT $@ $(LINK) $(LDFLAGS) -o $@ $< $(B)/libedb.a -ldl -lpthread

$(B)/faultproxy: test/faultproxy.c | setup
	@mkdir -p $(@D)
	$(call say,HOST,$@)$(CC) $(ALL_CFLAGS) -MMD -MP -MF $@.d -MT $@ $(LDFLAGS) -o $@ $<

$(B)/nou128/tlsc: test/tlsc.c $(B)/libedb.a $(B)/nou128/libcrypto-edb.a | setup
	@mkdir -p $(@D)
	$(call say,HOST,$@)$(CC) $(ALL_CFLAGS) -DECR_NO_U128 -MMD -MP -MF $@.d -MT $@ $(LINK) $(LDFLAGS) -o $@ $< \
	  $(B)/nou128/libcrypto-edb.a $(B)/libedb.a -ldl -lpthread

$(B)/chain_host: test/chain_host.c $(B)/libedb.a | setup
	@mkdir -p $(@D)
	$(call say,HOST,$@)$(CC) $(ALL_CFLAGS) -MMD -MP -MF $@.d -MT $@ $(LINK) $(LDFLAGS) -o $@ $< $(B)/libedb.a -ldl -lm

$(B)/nou128/vector_host: test/vector_host.c $(B)/nou128/libcrypto-edb.a | setup
	@mkdir -p $(@D)
	$(call say,HOST,$@)$(CC) $(ALL_CFLAGS) -DECR_NO_U128 -MMD -MP -MF $@.d -MT $@ $(LINK) $(LDFLAGS) -o $@ $< \
	  $(B)/nou128/libcrypto-edb.a -ldl -lm

$(B)/tdsd: $(TDSD)
	$(call say,LINK,$@)$(CC) $(ALL_CFLAGS) $(LINK) $(LDFLAGS) -o $@ $^ -lssl -lcrypto -lsqlite3 -lpthread -lm

$(B)/liar.so $(B)/liar_ansi.so: $(wildcard test/liar/*.c test/liar/*.h) $(B)/flags | setup
	$(call say,LINK,$@)$(CC) $(ALL_CFLAGS) $(if $(findstring ansi,$@),-DLIAR_ANSI) -shared $(LINK) $(LDFLAGS) -o $@ $(filter %.c,$^)

-include $(TDSD:.o=.d)
-include $(OBJECTS:.o=.d) $(NOU128:.o=.d) $(UNITS:=.d)

# Running ----------------------------------------------------------------------------------------

demo: $(SO) | setup
	@rm -rf build/demo && mkdir -p build/demo
	@sqlite3 -batch build/demo/local.db <test/demo.sql

test: $(SO) $(WANTED) $(B)/libedb.a $(B)/tdsd $(LIARS) | setup
	@SUITE='$(SUITE)' SERVER='$(SERVER)' SQLITE='$(SQLITE)' $(TCLSH) test/run.tcl

faults: $(SO) $(B)/faultproxy $(B)/tdsd | setup
	@SUITE='write_faults write_faults_sqlserver' FAULTS='$(or $(FAULTS),3)' SUITE_TIMEOUT=3600 $(TCLSH) test/run.tcl

# The suites of random queries, at length.
DIFFERENTIAL := $(patsubst %,differential_%,$(or $(DRIVER),postgresql mysql sqlite sqlserver odbc))
fuzz-sql: $(SO) $(B)/tdsd | setup
	@SUITE='$(DIFFERENTIAL:%_postgresql=%)' SERVER='$(SERVER)' SQLITE='$(SQLITE)' SUITE_TIMEOUT=86400 EDB_QUERIES='$(or $(QUERIES),100000)' \
	  EDB_SEED='$(SEED)' EDB_ONLY='$(ONLY)' EDB_ROUND='$(or $(ROUND),400)' EDB_PLAIN='$(PLAIN)' \
	  EDB_SECONDS='$(if $(filter command,$(firstword $(origin SECONDS))),$(SECONDS))' $(TCLSH) test/run.tcl

# Other people's files of sqllogictest.
slt: $(SO) $(B)/tdsd | setup
	@SUITE='$(if $(filter-out sqlite,$(DRIVER)),slt,slt_sqlite)' SERVER='$(or $(SERVER),$(filter-out sqlite,$(DRIVER)))' SQLITE='$(SQLITE)' \
	  SUITE_TIMEOUT=86400 EDB_SLT='$(abspath $(FILES))' EDB_SLT_WRITES='$(WRITES)' $(TCLSH) test/run.tcl

test-interop: $(SO) $(B)/tdsd | setup
	@SUITE='$(SUITE)' $(TCLSH) test/run.tcl -interop

ct: | setup
	@CASE='$(CASE)' $(TCLSH) test/ct/ct.tcl

asan: | setup
	@$(MAKE) --no-print-directory SANITIZE=1 EDB_SETUP=done test

bench: $(SO) $(B)/libedb.a $(B)/nou128/libcrypto-edb.a $(B)/tdsd $(B)/tlsc $(B)/nou128/tlsc | setup
	@CASE='$(CASE)' ROUNDS='$(ROUNDS)' $(TCLSH) bench/bench.tcl

fuzz: | setup
	@$(MAKE) --no-print-directory FUZZING=1 CC=clang EDB_SETUP=done fuzzers
	@for name in $(if $(CASE),$(CASE),$(notdir $(FUZZERS))); do \
	  mkdir -p build/fuzzing/corpus/$$name; echo "== $$name"; \
	  build/fuzzing/fuzz/$$name -max_total_time=$(SECONDS) -timeout=10 -rss_limit_mb=2048 -max_len=65536 \
	    -artifact_prefix=build/fuzzing/$$name- -print_final_stats=1 build/fuzzing/corpus/$$name \
	    test/fuzz/corpus/$$name 2>build/fuzzing/$$name.log || { tail -40 build/fuzzing/$$name.log; exit 1; }; \
	  grep -E '^(Done|stat::(number|peak))' build/fuzzing/$$name.log; \
	done

lint: | setup
	@CHECK='$(CHECK)' $(TCLSH) test/lint.tcl

cover: | setup
	@rm -rf build/cover
	@$(MAKE) --no-print-directory COVER=1 EDB_SETUP=done test
	@find build/cover -name '*.gcda' ! -path '*/unit/*' -exec gcov -n {} + 2>/dev/null | \
	  awk -F"'" '/^File/ { file = $$2 } /^Lines/ && file !~ /^\// { print file ": " $$0 }' | sort -u

mutations: | setup
	@FILE='$(FILE)' $(TCLSH) test/mutations/run.tcl

format: | setup
	@find $(FOLDERS) test bench -name '*.[ch]' -exec clang-format -i {} +

install: $(SO)
	install -d '$(DESTDIR)$(PREFIX)/lib/sqlite3'
	install -m 755 $(SO) '$(DESTDIR)$(PREFIX)/lib/sqlite3/edb.so'

# build/peers holds what came from other registries; `make clean` keeps it, being dear to fetch.
clean:
	@rm -rf edb.so
	@if [ -d build ]; then find build -mindepth 1 -maxdepth 1 ! -name peers -exec rm -rf {} +; fi
