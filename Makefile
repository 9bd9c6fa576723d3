# desktop-agent: `make demo` shows the main job, `make test` proves the rest.
# Both install what is missing, as root or by sudo.

GO    ?= go
BIN   := bin/desktop-agent
BENCH ?= .

# No debugger reads what is built here: without what is for it, compiling takes a quarter
# less. And the compiler inlines nothing in two libraries of clients, which are the largest
# packages of all, with thousands of types, and wait for a network: a third less of theirs.
# Of the patterns that fit a package the last holds alone, so each says all.
CLIENTS = github.com/openai/openai-go/v3/... github.com/anthropics/anthropic-sdk-go/...
LEAN    = -gcflags=all=-dwarf=false $(foreach p,$(CLIENTS),'-gcflags=$(p)=-dwarf=false -l')

# The race detector, for all but what does nothing but compute: packers, picture formats,
# scaling, patterns, command lines, the syntax of JSON, the wire form of X11. Of the tests'
# time half went into watching these read and write, and they share nothing of their own
# between goroutines but what package sync guards. What is handed to them and what they give
# is still watched wherever our code touches it. What makes values of JSON stays watched: it
# fills tables once by package sync, and then reads them in maps, which are watched anyhow.
# What uses sync.Map must be watched (encoding/xml, excelize): the linker keeps one of the
# generic maps that packages are compiled with, and by an unwatched one the detector
# does not see what it orders, in any package.
COMPUTES = compress/flate github.com/alecthomas/kong hash/adler32 image image/draw image/jpeg image/png regexp regexp/syntax github.com/disintegration/imaging \
	github.com/go-json-experiment/json/jsontext github.com/go-json-experiment/json/internal/jsonwire github.com/jezek/xgb/xproto
RACE     = -race $(LEAN) $(foreach p,$(COMPUTES),'-gcflags=$(p)=-dwarf=false -race=false')

# Every program with the race detector waits a second before it ends, for races that are
# still to be seen: hundreds of programs are started in tests, and end when all is done.
export GORACE = atexit_sleep_ms=0

# What checks and what tests reads the same compiled packages, those with the
# race detector: in an empty cache each is compiled once for all of them, and for the
# go command that a test starts, and without the path of a clone: what one has compiled
# serves the next. No debugger reads tests' programs, and linking what is
# for it takes a third of linking them.
RACED = GOFLAGS="$$($(GO) env GOFLAGS) $(RACE) -trimpath -ldflags=-w"

# Packages whose tests open no window: these are tested beside the others.
COMPUTING = ./actuator/dialect/... ./actuator/pyautogui/... ./llm/... ./monitor/... ./planner/... ./replay/export/... \
	./run/eventjson/... ./tasks/bench/... ./tasks/judge/... ./tasks/office/... ./tasks/osworld/metric/...

.PHONY: demo test check gate lint tests windows computing bench suite safety fuzz public difftest eyes soak build setup golden rows clean

demo: build
	@scripts/setup demo
	$(BIN) demo

# First what fails at once, then the tests, and beside them, on the time of the
# processor that they leave, what only computes.
test:
	@scripts/setup check test
	@scripts/lacks
	@$(MAKE) --no-print-directory gate
	@$(MAKE) --no-print-directory -j3 windows computing lint

check:
	@scripts/setup check
	@$(MAKE) --no-print-directory gate
	@$(MAKE) --no-print-directory lint

gate:
	@test -z "$$(gofmt -l .)" || { gofmt -l .; echo 'run: gofmt -w .'; exit 1; }
	$(GO) mod tidy -diff
	$(RACED) $(GO) vet ./...
	$(RACED) $(GO) test -vet=off -run TestImports .

# Tests with windows wait for them most of the time: three packages at a time use the two
# cores of a small machine. The gate has vetted.
tests: windows computing

windows:
	$(RACED) $(GO) test -vet=off -shuffle=on -p 3 -timeout 60m $$($(GO) list ./... | grep -vxF "$$($(GO) list $(COMPUTING))")

computing:
	$(RACED) nice $(GO) test -vet=off -shuffle=on -p 1 -timeout 60m $(COMPUTING)

lint:
	$(RACED) nice $$($(GO) tool -n staticcheck) ./...
	$(RACED) nice $(GO) fix -diff ./...
	GOOS=windows CGO_ENABLED=0 nice $(GO) build -trimpath "-gcflags=all=-dwarf=false -N -l" -ldflags="-s -w" -o /dev/null ./cmd/desktop-agent

bench: build
	@scripts/setup bench
	$(GO) test -run '^$$' -bench '$(BENCH)' -skip 'TypeMixed|NoStaleFrame|ReplayMemory' -benchtime 20x -p 1 -timeout 60m ./...
	$(GO) test -run '^$$' -bench ReplayMemory -benchtime 1x -timeout 60m ./replay/offline
	$(GO) test -run '^$$' -bench TypeMixed -benchtime 100x -timeout 60m ./actuator
	$(GO) test -run '^$$' -bench NoStaleFrame -benchtime 200x -timeout 60m ./screen

# Every task of our own suite: its solution scores 1, a near miss and nothing at all 0.
suite: build
	@scripts/setup suite
	$(BIN) bench suites/desktop --model scripted --results results/suite

# All 24 tasks of suites/safety, three ways; make test does a third of them.
safety:
	@scripts/setup test
	SUITE=all $(GO) test -count=1 -v -timeout 30m ./suites/safety

# Every parser of what a model writes, a minute each.
fuzz:
	@for p in actuator/pyautogui actuator/toolcall actuator/dialect actuator/native actuator/ground \
			llm llm/wire llm/anthropic llm/gemini llm/openai llm/responses screen tools agent engine \
			planner worldmodel monitor guard rehearsal replay/macro tasks/judge; do \
		for f in $$($(GO) test -list '^Fuzz' ./$$p | grep '^Fuzz'); do \
			echo "$$p $$f"; $(GO) test -run '^$$' -fuzz "^$$f$$" -fuzztime 60s -fuzzminimizetime 10x ./$$p || exit 1; \
		done; done

# OSWorld's own tasks, which OSWORLD_DATA names: docs/suites.md.
public:
	@scripts/setup suite test
	PUBLIC=all $(GO) test -count=1 -v -timeout 90m -run Public ./tasks/trial

# The metrics beside OSWorld's own Python, of a checkout that OSWORLD_DIR names.
difftest:
	$(GO) test -count=1 -v -timeout 60m -run TestOSWorld ./tasks/osworld/metric/difftest

# Whether what is listed of the screen is true, over all states: docs/eyes.md.
eyes:
	@scripts/setup test
	EYES=all $(GO) test -count=1 -v -timeout 60m ./screen/eyestest

# What takes long: servers and workers that are killed under 200 trials, runs that are
# killed at 50 random moments and resumed, and at 200 by each signal, and hostile replies
# to runs on a real desktop for ten minutes.
soak:
	@scripts/setup test
	BENCH_SOAK=1 $(GO) test $(RACE) -run Cluster -timeout 60m -v ./tasks/bench
	RESUME_KILLS=50 $(GO) test -run 'TestResumeRandom|TestResumePlanRandom' -timeout 120m -v ./cmd/desktop-agent
	DESKTOP_AGENT_TEST_KILLS=40 $(GO) test $(RACE) -run TestDeathLetsGo -timeout 60m -v ./actuator
	DESKTOP_AGENT_TEST_KILLS=40 $(GO) test -run 'TestKilled$$' -timeout 60m -v ./cmd/desktop-agent
	DESKTOP_AGENT_TEST_KILLS=200 $(GO) test $(RACE) -run TestSurvivesKill -timeout 60m -v ./replay
	DESKTOP_AGENT_TEST_HOSTILE=10m $(GO) test $(RACE) -run TestHostileReplies -timeout 60m -v ./agent

build:
	CGO_ENABLED=0 $(GO) build -trimpath $(LEAN) -ldflags="-s -w" -o $(BIN) ./cmd/desktop-agent

# Writes the golden files anew; look at the difference before you commit it.
golden:
	$(GO) test ./planner ./worldmodel ./monitor ./agent ./replay/macro -run Golden -update

# Writes docs/rows.md, which names a test for each rule.
rows:
	$(GO) test . -run TestRows -update

setup:
	@scripts/setup demo test check bench suite

clean:
	rm -rf bin
