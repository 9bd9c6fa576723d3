// Package macro does a recorded run again without a model.
//
//	run, err := replay.Open(dir)
//	m, err := macro.Load(run, nil)
//	err = m.Set("file", "list.txt") // one of m.Params()
//	p := macro.New(session)
//	result, err := p.Play(ctx, m)
//
// For each action [Load] derives from the recording what it is for: the window,
// the node of the accessibility tree with its path, and the picture around the
// point; and for each step what came of it. A [Player] finds the target again on
// the live desktop (by the tree, then by the picture within the window, then by
// the picture enlarged or reduced), acts, and checks that the same came of it.
//
// The first rule is that nothing is clicked that is not what was recorded: where
// two things could be meant, or none, the replay stops with a [*DivergedError],
// or asks a model for this step only.
//
// A control whose name is another one is taken for the same in another language
// only if its window has at least five named controls, all of it is arranged
// exactly as recorded, and at most one control in five has kept its name.
package macro
