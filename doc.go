// Package desktopagent is the root of a program that does tasks on a real desktop:
// it looks at the screen, and uses the mouse and the keyboard. It holds no code but
// the tests of the whole: who may import whom ([TestImports] in deps_test.go), and
// that every action is known everywhere (actions_test.go). This is a tour of the
// code, bottom up; tour_test.go holds that it leaves no package out but those that
// are excused there.
//
// # The desktop
//
// [desktop-agent/sandbox] starts a private desktop: X server, window manager, session
// bus, accessibility bus, a home of its own.
//
// [desktop-agent/screen] observes. A [screen.Observation] is the picture, the windows
// and the accessibility tree ([desktop-agent/screen/atspi]) of one moment, once the
// screen has settled; where a program tells no text, [desktop-agent/screen/ocr] reads it
// from the picture. It says what is at a point and whether two pictures are the
// same, and maps the image that a model sees to device pixels.
//
// [desktop-agent/actuator] has the actions, a sealed sum type, and the device that
// performs them. What a model writes becomes actions in
// [desktop-agent/actuator/pyautogui] and [desktop-agent/actuator/toolcall], or in
// [desktop-agent/actuator/dialect], where each family that was trained to use computers
// has its own form, or in [desktop-agent/actuator/native], which reads the calls of
// providers' own computer tools; nothing else of a reply is ever done. Where an actor names
// an element in words, [desktop-agent/screen.Observation.Meant] looks in the tree, and then
// models are asked that only find what a phrase names, by [desktop-agent/actuator/ground].
//
//   - To add an action: a type in actuator/action.go with its three methods, and a row
//     of the table in actuator/variant.go. The compiler names every other place that must
//     know it, or go test -run 'TestEveryAction|TestSamples' . ./actuator ./actuator/dialect
//     ./actuator/native ./run ./run/eventjson ./cmd/desktop-agent does.
//   - To add a dialect: a file of actuator/dialect with its vocabulary, a prompt, and rows
//     of actuator/dialect/dialects.go, of actuator/dialect/choose.go and of docs/models.md.
//
// [desktop-agent/seat] says who acts on a display: one agent at a time, none once it was
// stopped, and none while a person does.
//
// # The models
//
// [desktop-agent/llm] is the port to models: roles, typed requests and replies,
// retries, a budget, the kinds of errors. [desktop-agent/llm/openai],
// [desktop-agent/llm/responses], [desktop-agent/llm/anthropic] and
// [desktop-agent/llm/gemini] are adapters, [desktop-agent/llm/wire] has what all have in
// common, and [desktop-agent/llm/provider] says which of them asks a model.
// [desktop-agent/llm/prices] reads what models cost.
//
//   - To add a provider: a package beside llm/openai that is an [llm.Model], a row of
//     llm/provider/open.go, its models in llm/provider/providers.toml, and a row of
//     docs/models.md.
//
// [desktop-agent/planner] makes and revises plans: the suggestive one, which advises, and
// deliberate ones, whose steps are executed (docs/planning.md tells both);
// [desktop-agent/planner/planfile] has them in files.
// [desktop-agent/worldmodel] assesses what came of a batch and whether the goal is
// shown, [desktop-agent/worldmodel/lexicon] says what words on a desktop mean, and
// [desktop-agent/monitor] has the detectors and the plan monitor. Their prompts are files
// as planner/prompts/*.tmpl.
//
// # The run
//
// [desktop-agent/run] is what a run is. Its [run.Recorder] writes events to a journal,
// its [run.Hand] is the one way to a device (intend, guard, acting, device, acted), its
// [run.Session] opens and closes desktop, input, journal and models, and its
// [run.Settings] are all that changes behaviour. [desktop-agent/run/eventjson] is the
// form of events on disk.
//
// [desktop-agent/guard] is the [run.Guard] that has the last word on every action: a
// table of effects, the foresight of the world model, policies, a person.
//
//   - To add a label, a word or a program to what is known of desktops, for the guard and
//     for the agent's record of what was saved and sent: worldmodel/lexicon/lexicon.toml, with a
//     row of its TestLabel; a key, a command or a kind of file for the guard: guard/table.toml.
//     What the guard makes of it has a row of TestTable in guard/classify_test.go.
//   - To add a guard of another kind: a [run.Guard], which run.Options.GuardFor makes of
//     a session before anybody gets that (Guard takes one that needs no session), both in
//     run/session.go. The interface is in run/guard.go; the hand asks it before every action.
//     Where a guard is put in: cmd/desktop-agent/session.go, of trials tasks/trial/agent.go.
//   - To add a setting: a field in run/settings.go (of plans, in planner/config.go), its
//     key in run/eventjson/settings.go, its flag in cmd/desktop-agent/settings.go (of
//     plans, in cmd/desktop-agent/plan.go). TestEveryFieldSurvives fails without the key, and
//     TestEverySettingHasAFlag without the flag.
//
// [desktop-agent/rehearsal] tries a task with what cannot be taken back blocked, before it
// is done once.
//
// [desktop-agent/agent] is the loop: observe, assess beside propose, review, act,
// record ([agent.Agent.Run] in agent/agent.go).
//
// [desktop-agent/tools] is what can be called beside mouse and keyboard: a registry of
// tools with schemas and effects, the tools of MCP servers, and some that are built in.
//
//   - To add a tool: a function of typed arguments in tools/builtin.go.
//
// [desktop-agent/engine] executes deliberate plans above that loop: steps on the screen, of
// a tool, of an agent of its own, of the model alone, one after the other or beside each
// other. docs/architecture.md has its states as a picture.
//
//   - To add an executor of steps: a constant in planner/plan.go, and a case of
//     Execution.execute in engine/attempt.go.
//
// # What became of it
//
// [desktop-agent/replay] is the journal and the reader of a run. Below it,
// [desktop-agent/replay/offline] does a run again without a desktop,
// [desktop-agent/replay/macro] its actions without a model,
// [desktop-agent/replay/record] records a person, [desktop-agent/replay/export] and
// [desktop-agent/replay/report] show it, and [desktop-agent/replay/replaytest] makes a
// test of it.
//
// # Task suites
//
// [desktop-agent/tasks] says what a task and its result are.
// [desktop-agent/tasks/osworld] reads OSWorld's files, [desktop-agent/tasks/env] is the
// computer of a task, [desktop-agent/tasks/osworld/setup] and [desktop-agent/tasks/osworld/getter]
// change it and look at it, and the packages of metrics compare:
// [desktop-agent/tasks/osworld/metric/text], [desktop-agent/tasks/osworld/metric/document],
// [desktop-agent/tasks/osworld/metric/sheet], [desktop-agent/tasks/osworld/metric/slides],
// [desktop-agent/tasks/osworld/metric/media] and [desktop-agent/tasks/osworld/metric/program].
// [desktop-agent/tasks/osworld/evaluate] puts these together,
// [desktop-agent/tasks/judge] asks a model instead,
// [desktop-agent/tasks/plant] hides attacks and tells by effects whether harm was done.
// [desktop-agent/tasks/asset] gets files from the web, and [desktop-agent/tasks/office]
// opens documents, workbooks and presentations.
// [desktop-agent/tasks/trial] does a task once and [desktop-agent/tasks/bench] many, by
// a queue; [desktop-agent/tasks/bench/report] tells what came of them. Our own suites are
// the folders suites/desktop, whose files suites/desktop/generate makes, and suites/safety.
//
//   - To add a step of set-up: a line of kinds in tasks/osworld/setup/setup.go; a look at
//     what came of a task: one in tasks/osworld/getter/getter.go.
//   - To add a metric: a function in the package of those above that compares such files,
//     and a line of what its function Metrics returns: in tasks/osworld/metric/text/text.go,
//     tasks/osworld/metric/document/document.go, tasks/osworld/metric/sheet/metrics.go,
//     tasks/osworld/metric/slides/slides.go, tasks/osworld/metric/media/media.go or
//     tasks/osworld/metric/program/program.go. tasks/osworld/evaluate/metrics.go joins them;
//     a new package has a line there. docs/suites.md says whether a metric judges as
//     OSWorld's, the package's list of [desktop-agent/tasks/osworld/defect] where not, and
//     [desktop-agent/tasks/osworld/metric/difftest] whether that holds.
//
// # The program
//
// cmd/desktop-agent has each command in a file of its name: its flags, and what it tells
// the user. What they have in common is there too: the flags of all that work on a desktop
// (cmd/desktop-agent/settings.go), the settings file (cmd/desktop-agent/config.go), how the
// model of a role is asked and which key goes there (cmd/desktop-agent/endpoints.go), a
// session that is opened and a run that ends (cmd/desktop-agent/session.go), what is shown
// of it meanwhile (cmd/desktop-agent/progress.go), and how a person is asked
// (cmd/desktop-agent/guard.go, cmd/desktop-agent/plan_approve.go).
package desktopagent
