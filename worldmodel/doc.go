// Package worldmodel reads from the screen what actions did: a model tells what
// it sees, and code decides what of that counts.
//
// [Model.Assess] compares a fresh observation with the one before the last
// batch of actions; [Progress] grants the plan a step only if the evidence is
// really on that observation. [Model.CheckGoal] and [Confirmed] do the same for
// the claim that the task is done. All of them judge what has happened.
//
// Foreseeing what an action would do, with its risk, belongs beside them, as
// one more call of [Model] on a proposal and the newest observation, in a file
// of its own with its own prompt. It must never be shown the plan.
package worldmodel
