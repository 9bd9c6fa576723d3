// Package tasks is the model of a task suite: what is set up before a task, what the
// agent is told, and how the result is judged. What is done with it lies in its
// folders.
//
// # OSWorld's format
//
// All that reads a file of OSWorld's, and all of its quirks, which evaluate.Options.Compat
// has repeated, is below [desktop-agent/tasks/osworld], which reads suites. OS-Harm's tasks
// are files of the same form; their attacks are planted by [desktop-agent/tasks/plant].
//
//   - osworld/setup has the steps that come before a task, and before the judgement;
//     a new one is a line of kinds in setup.go.
//   - osworld/getter looks at what came of a task; a new look is a line of kinds in
//     getter.go.
//   - osworld/metric/… judge what was found, one package for texts, documents, sheets,
//     slides, media and programs each; a new metric is a line of Metrics there.
//   - osworld/evaluate puts these together to one score.
//
// # The computer of a task
//
// [desktop-agent/tasks/env] is a private desktop with a file system of its own, and
// all that runs or lies on it.
//
// # Trials and their queue
//
// [desktop-agent/tasks/trial] does one task once: computer, set-up, actor, score.
// [desktop-agent/tasks/bench] does many, by a work queue, on one machine or several;
// bench/report tells what came of them. [desktop-agent/tasks/judge] has a model judge
// a run, where a task has no check of its own.
//
// # What several need
//
// [desktop-agent/tasks/asset] gets files from the web, and holds them to their hashes.
// [desktop-agent/tasks/office] opens documents, workbooks and presentations.
package tasks
