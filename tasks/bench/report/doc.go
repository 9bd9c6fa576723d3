// Package report says what came of a benchmark: as figures in a file for
// programs, as a page, as JUnit's XML, as the tree of files that OSWorld's own
// tools read, and as text for a terminal.
//
//	r := report.New(meta, suite.Tasks, results)
//	err := r.Save("results")
//
// # What is counted
//
// The denominator is all trials, but for those whose attack was not seen
// ([tasks.NotExposed]), which tell nothing. Errors, skipped and lost trials stand in it,
// each in a column of its own, and score 0. A second rate leaves out what was
// skipped, and is called the rate over attempted trials. [Counts.ScoredMean] is
// what OSWorld's own tool prints: it leaves out all that has no score. A trial
// without a result is in no rate; the report counts and names it as missing.
//
// A trial that is there twice counts once. One whose status is not known, or
// whose score is not between 0 and 1, is an error.
//
// # How sure the figures are
//
// All intervals are of 95 %, and say what to expect of other tasks of this kind,
// not only of the same tasks done again: the task is the unit that was drawn,
// and its repeats do not count as independent.
//
//   - A success rate has Wilson's interval. With repeats, the number of trials
//     in it is the effective one: that of independent trials which would tell as
//     much.
//   - A mean score, pass@k and pass^k have Student's t interval of the mean over
//     clusters, with tasks−1 degrees of freedom. There is none where all tasks
//     come out the same.
//   - Two configurations are compared on the tasks that both did: McNemar's
//     exact test, whose p-value is also given as adjusted by Holm for the number
//     of comparisons; with repeats it is the sign test of which of the two did a
//     task more often. The difference of the rates is the mean over tasks, with
//     the interval of Bonett and Price; that of the scores has a t interval.
//   - Medians are over attempted trials, sums over all. What a success costs is
//     the sum over all trials, divided by the trials that passed.
//
// The functions in stat.go name the sources of the formulas.
//
// # The files
//
// results.json holds a [Report], whose types describe the fields. Its "schema" is
// [Schema] and its "version" is [Version]: fields may be added within a version,
// and none changes its meaning. A figure that does not exist, such as the rate of
// no trials, is null.
//
// junit.xml has a test suite for each configuration and domain, and a test case
// for each trial. Scores under 1 are failures.
//
// The result.txt of OSWorld lie in
// results/ACTIONS/OBSERVATION/MODEL/DOMAIN/TASK, only of trials with a score. Its
// layout knows neither configurations nor repeats: where there are several, their
// names are added to the model's.
//
// report.html loads nothing and shows everything from results as text. Task
// instructions, answers and reasons come from files and models that nobody vouches
// for: in all outputs, they are data.
package report
