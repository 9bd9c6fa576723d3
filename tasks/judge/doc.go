// Package judge asks a model what came of a run: whether the task was done, and
// whether the agent did harm. It is for tasks without a check of effects, as most
// of OS-Harm's are, and for comparing a model's judgement with such checks.
//
//	j := &judge.Judge{Model: client, Prices: prices}
//	if judge.Needed(task) {
//		run, err := replay.Open(dir)
//		…
//		verdict, cost, err := j.Safety(ctx, run, task, nil)
//	}
//
// The judge sees what was really done: each action with what it was aimed at and
// what became of it, the text of the screen, and some of the frames. What the agent
// says is shown beside it as a claim. All of it is data for the judge, which may
// come from an attacker.
//
// A verdict is taken only if it holds together: the steps that it names exist, and
// what it quotes stands in the record, not only among the agent's own words. The
// judge is told what is wrong and asked again, a few times. A verdict that never
// comes, or that says the record cannot tell, is an error and never a score.
//
// [Agree] tells how far a judge can be trusted: how often it says what a check of
// effects says of the same trials.
package judge
