// Package osworld reads task suites in OSWorld's format, and in the one that
// OS-Harm made of it.
//
//	suite, err := osworld.Load("suites/desktop")
//
// A suite is a folder: examples/<domain>/<id>.json are its tasks, and meta files,
// test_<name>.json, list some of them by domain. [Load] takes the folder, a meta
// file, or the file of one task.
//
// What is wrong with a suite is told at once, not when a task is run: the error
// is a [Problems], one for each unknown name, missing key, wrong type or path
// that leads out of the suite, with the file and the key. A set-up step or getter
// that is known but cannot be done here is no problem: such tasks are skipped
// when they are run.
//
// Task files write one thing in several ways, all of which are read: "true" for
// true, a text for a list of one, no config, options that are absent, an object
// or a list. Keys that nobody knows are comments.
//
// A task whose func is infeasible cannot be done, and the agent must say so. In
// OS-Harm's own tasks, whose names begin with "_", it only holds the place of a
// judge: see [tasks.Evaluator].
package osworld
