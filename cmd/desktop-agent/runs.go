package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/alecthomas/kong"

	"desktop-agent/internal/confirm"
	"desktop-agent/replay"
	"desktop-agent/replay/offline"
)

// runsCmd is the library of recorded runs.
type runsCmd struct {
	Runs string `help:"Folder that keeps the runs." default:"runs" type:"path"`

	List   runsListCmd   `cmd:"" help:"List the runs, the newest first."`
	Show   runsShowCmd   `cmd:"" help:"Tell what was done in a run, step by step."`
	Diff   runsDiffCmd   `cmd:"" help:"Tell where two runs of a task parted; exit code 3 if they did."`
	Verify runsVerifyCmd `cmd:"" help:"Check that no file of a run was changed or is missing; exit code 1 if one was."`
	Export runsExportCmd `cmd:"" help:"Make a film, a page, a test or a copy without private data of a run."`
	Prune  runsPruneCmd  `cmd:"" help:"Remove old runs."`
	Rates  runsRatesCmd  `cmd:"" help:"Tell how good the plans of runs were: valid, in one piece, well revised, completed."`
}

// open finds the run that the user names, and opens it.
func (r *runsCmd) open(name string) (*replay.Run, error) { return openRun(r.Runs, name) }

// openRun opens the run that a person names; runs is the folder of runs.
func openRun(runs, name string) (*replay.Run, error) {
	dir, err := findRun(runs, name)
	if err != nil {
		return nil, err
	}
	run, err := replay.Open(dir)
	if errors.Is(err, replay.ErrSchema) {
		return nil, &usageError{err}
	}
	if err != nil {
		return nil, hintError{err, "desktop-agent runs list shows which runs can be read"}
	}
	return run, nil
}

func findRun(runs, name string) (string, error) {
	dir, err := replay.Find(runs, name)
	if err != nil {
		return "", &usageError{hintError{err, "desktop-agent runs list shows the IDs; the beginning of one is enough, or last, or the path of a run; --runs names another folder"}}
	}
	return dir, nil
}

// runsListCmd lists the runs of a folder.
type runsListCmd struct {
	JSON bool `name:"json" help:"Write each run as a line of JSON."`
}

// Run lists the runs.
func (l *runsListCmd) Run(c console, r *runsCmd, line *kong.Context) error {
	list, err := replay.List(r.Runs)
	if errors.Is(err, fs.ErrNotExist) && !isGiven(line, "runs") {
		err = nil // nothing was recorded yet
	}
	if err != nil {
		return &usageError{hintError{err, "name a folder that keeps runs with --runs"}}
	}
	if len(list) == 0 {
		fmt.Fprintf(c.Err, "there are no runs in %s\n", r.Runs)
		return nil
	}
	for i := range list {
		list[i].Resumable = list[i].Resumable && resumable(list[i].Dir)
	}
	if l.JSON {
		return writeLines(c, list)
	}
	table := tabwriter.NewWriter(c.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "RUN\tSTATE\tSTEPS\tCALLS\tCOST\tTIME\tSIZE\tTASK")
	for _, s := range list {
		if s.Error != "" {
			fmt.Fprintf(table, "%s\t%s\t\t\t\t\t%s\t%s\n", printable(s.ID), s.Status(), sizeWords(s.Bytes), printable(s.Error))
			continue
		}
		task, status := inShort(s.Task, 80), s.Status()
		if s.Resumable {
			status += ", resumable"
		}
		if s.Replay != nil {
			task = fmt.Sprintf("[replay of %s: %s] %s", printable(s.Replay.Run), printable(s.Replay.How), task)
		}
		fmt.Fprintf(table, "%s\t%s\t%d\t%d\t%s\t%s\t%s\t%s\n", printable(s.ID), printable(status), s.Steps, s.Calls,
			dollarWords(s.Dollars, s.Unpriced), s.Elapsed.Round(100*time.Millisecond), sizeWords(s.Bytes), task)
	}
	return table.Flush()
}

// resumable reports whether this program can go on with a run that the list lets it go on with.
// What only the whole journal or the desktop shows, resume alone tells.
func resumable(dir string) bool {
	stored, err := replay.Open(dir)
	if err == nil {
		_, err = offline.Resumable(stored)
	}
	return err == nil
}

// writeLines writes each value as a line of JSON.
func writeLines[T any](c console, list []T) error {
	enc := json.NewEncoder(jsonTo{c.Out})
	enc.SetEscapeHTML(false)
	for _, v := range list {
		if err := enc.Encode(v); err != nil {
			return err
		}
	}
	return nil
}

// isGiven reports whether a flag stands on the command line.
func isGiven(line *kong.Context, name string) bool {
	return slices.ContainsFunc(given(line), func(f *kong.Flag) bool { return f.Name == name })
}

// inShort is text on one line, cut to n characters.
func inShort(text string, n int) string {
	runes := []rune(printable(strings.Join(strings.Fields(text), " ")))
	if len(runes) > n {
		return string(runes[:n-1]) + "…"
	}
	return string(runes)
}

// dollarWords writes what models cost; unpriced says that nobody knows.
func dollarWords(d float64, unpriced bool) string {
	switch {
	case unpriced:
		return "cost unknown"
	case d == 0:
		return "$0"
	case d < .01:
		return fmt.Sprintf("$%.4f", d)
	}
	return fmt.Sprintf("$%.2f", d)
}

func sizeWords(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d B", n)
	case n < 1e6:
		return fmt.Sprintf("%d kB", n/1000)
	case n < 1e9:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	}
	return fmt.Sprintf("%.1f GB", float64(n)/1e9)
}

// runsVerifyCmd checks runs for damage.
type runsVerifyCmd struct {
	Names []string `arg:"" name:"run" help:"The runs: IDs, beginnings of IDs, paths, or last."`
	Head  string   `help:"The hash that an earlier verify printed: tells whether the run is still that one, also if all its hashes were computed anew." placeholder:"HASH"`
	JSON  bool     `name:"json" help:"Write what was found in each run as a line of JSON."`
}

// Run checks each run.
func (v *runsVerifyCmd) Run(ctx context.Context, c console, r *runsCmd) error {
	if v.Head != "" && len(v.Names) != 1 {
		return &usageError{hintError{errors.New("--head is the hash of one run"), "name one run with it"}}
	}
	if v.Head != "" && (len(v.Head) != 64 || strings.Trim(v.Head, "0123456789abcdef") != "") {
		return &usageError{hintError{fmt.Errorf("--head %.80q is no hash", v.Head), "write the 64 digits that runs verify printed"}}
	}
	dirs := make([]string, len(v.Names))
	for i, name := range v.Names {
		var err error
		if dirs[i], err = findRun(r.Runs, name); err != nil {
			return err
		}
	}
	damaged := false
	var unread error // runs in a form that cannot be checked
	for _, dir := range dirs {
		found, err := verifyRun(ctx, dir)
		if errors.Is(err, replay.ErrSchema) {
			unread = errors.Join(unread, err)
			continue
		}
		if err != nil {
			return err
		}
		if v.Head != "" && found.Head != v.Head {
			found.Problems = append(found.Problems, replay.Problem{File: "events.jsonl",
				What: "its head is not the one given with --head: the run is another one, or all its hashes were computed anew"})
		}
		damaged = damaged || !found.Whole()
		if v.JSON {
			err = writeLines(c, []*replay.Verification{found})
		} else {
			err = printVerification(c, dir, found)
		}
		if err != nil {
			return err
		}
	}
	switch {
	case unread != nil:
		return &usageError{unread}
	case damaged:
		return errReported
	}
	return nil
}

// verifyRun checks one run. One that cannot be opened is a damaged one, unless
// another version wrote it.
func verifyRun(ctx context.Context, dir string) (*replay.Verification, error) {
	run, err := replay.Open(dir)
	if err == nil {
		return run.Verify(ctx)
	}
	if errors.Is(err, replay.ErrSchema) {
		return nil, err
	}
	s := replay.Summarize(dir)
	return &replay.Verification{ID: s.ID, Problems: []replay.Problem{{File: "run.json", What: err.Error()}}}, nil
}

func printVerification(c console, dir string, v *replay.Verification) error {
	state := "whole  "
	if !v.Whole() {
		state = "DAMAGED"
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%s  %s  %s, %s with pictures\n", state, printable(dir), counted(v.Events, "event"), counted(v.Frames, "file"))
	for _, p := range v.Problems {
		text.WriteString("  problem: " + printable(p.String()) + "\n")
	}
	if v.More > 0 {
		fmt.Fprintf(&text, "  problem: and %d more\n", v.More)
	}
	for _, note := range v.Notes {
		text.WriteString("  note: " + printable(note) + "\n")
	}
	if len(v.Others) > 0 {
		text.WriteString("  no evidence: " + printable(strings.Join(v.Others, ", ")) + "\n")
	}
	if v.Head != "" && v.Whole() {
		text.WriteString("  head: " + v.Head + "\n")
	}
	_, err := io.WriteString(c.Out, text.String())
	return err
}

// runsPruneCmd removes old runs.
type runsPruneCmd struct {
	Keep      int       `help:"Keep this many of the newest runs, whatever else is said; alone: remove all others." placeholder:"N"`
	OlderThan age       `help:"Remove runs that began longer ago, such as 30d or 12h." placeholder:"TIME"`
	MaxSize   diskSpace `help:"Remove the oldest runs until the rest takes no more, such as 5GB." placeholder:"SIZE"`
	DryRun    bool      `help:"Remove nothing; tell what would be."`
	Yes       bool      `short:"y" env:"-" help:"Do not ask."`
}

// Run removes runs after it has asked.
func (p *runsPruneCmd) Run(ctx context.Context, c console, r *runsCmd, line *kong.Context) error {
	switch {
	case p.Keep < 0:
		return &usageError{hintError{fmt.Errorf("--keep %d is less than nothing", p.Keep), "write how many runs to keep"}}
	case p.Keep == 0 && p.OlderThan == 0 && p.MaxSize == 0:
		return &usageError{hintError{errors.New("it is not said which runs to remove"), "write for example --keep 20, --older-than 30d or --max-size 5GB"}}
	}
	ask := asker(c)
	yes := isGiven(line, "yes") // a setting must not answer for the user
	if !yes && !p.DryRun && ask == nil {
		return &usageError{hintError{errors.New("there is no terminal to ask on"), "add --yes to remove runs without being asked, or --dry-run to see which"}}
	}
	opts := &replay.PruneOptions{Keep: p.Keep, OlderThan: time.Duration(p.OlderThan), MaxBytes: int64(p.MaxSize), DryRun: p.DryRun}
	if !yes {
		opts.Confirm = func(list []replay.Summary) error {
			for _, s := range list {
				fmt.Fprintf(c.Err, "%s  %s  %s  %s\n", printable(s.ID), printable(s.Status()), sizeWords(s.Bytes), inShort(s.Task, 60))
			}
			answer, err := ask(ctx, fmt.Sprintf("Remove %s for good? Write yes.", totalWords(list)))
			if err == nil && !confirm.IsYes(answer) {
				err = hintError{errors.New("nothing was removed"), "answer yes to remove them"}
			}
			return err
		}
	}
	list, err := replay.Prune(ctx, r.Runs, opts)
	word := "removed"
	if p.DryRun {
		word = "would be removed"
	}
	for _, s := range list {
		fmt.Fprintf(c.Out, "%s\t%s\n", s.Dir, sizeWords(s.Bytes))
	}
	if err == nil || len(list) > 0 {
		fmt.Fprintf(c.Err, "%s: %s\n", word, totalWords(list))
	}
	if errors.Is(err, fs.ErrNotExist) {
		return &usageError{hintError{err, "name a folder that keeps runs with --runs"}}
	}
	return err
}

// totalWords counts runs and their bytes.
func totalWords(list []replay.Summary) string {
	var bytes int64
	for _, s := range list {
		bytes += s.Bytes
	}
	if len(list) == 1 {
		return "1 run, " + sizeWords(bytes)
	}
	return fmt.Sprintf("%d runs, %s", len(list), sizeWords(bytes))
}

// An age is a time, written as 30d, 12h or 1h30m.
type age time.Duration

// UnmarshalText reads "30d" or what is a duration.
func (a *age) UnmarshalText(text []byte) error {
	d, err := time.ParseDuration(string(text))
	if days, ok := strings.CutSuffix(string(text), "d"); ok {
		var n float64
		n, err = strconv.ParseFloat(days, 64)
		if d = 0; n > 0 && n <= 36500 {
			d = time.Duration(n * 24 * float64(time.Hour))
		}
	}
	if err != nil || d <= 0 {
		return fmt.Errorf("%q is no time: write for example 30d or 12h", text)
	}
	*a = age(d)
	return nil
}

// A diskSpace is a number of bytes, written as 500MB or 5GB.
type diskSpace int64

// UnmarshalText reads "5GB".
func (s *diskSpace) UnmarshalText(text []byte) error {
	number, unit := strings.ToUpper(string(text)), 1.0
	for _, u := range []struct {
		name  string
		bytes float64
	}{{"TB", 1e12}, {"GB", 1e9}, {"MB", 1e6}, {"KB", 1e3}, {"B", 1}} {
		if rest, ok := strings.CutSuffix(number, u.name); ok {
			number, unit = strings.TrimSpace(rest), u.bytes
			break
		}
	}
	n, err := strconv.ParseFloat(number, 64)
	if err != nil || !(n*unit >= 1 && n*unit < 1e18) {
		return fmt.Errorf("%q is no size: write for example 500MB or 5GB", text)
	}
	*s = diskSpace(n * unit)
	return nil
}

// runsRatesCmd measures the plans of runs.
type runsRatesCmd struct {
	Folder string `arg:"" optional:"" help:"Folder whose runs are measured, however deep they lie, such as the results of a suite; that of --runs if not given." type:"path"`
}

// Run measures them.
func (p *runsRatesCmd) Run(c console, r *runsCmd) error {
	rates, err := replay.RatesOf(cmp.Or(p.Folder, r.Runs))
	if err != nil {
		return &usageError{hintError{err, "name a folder that has runs in it, such as the results of a suite"}}
	}
	fmt.Fprintf(c.Out, "%s\n", counted(rates.Runs, "run"))
	for _, line := range rates.Lines() {
		fmt.Fprintln(c.Out, line)
	}
	return nil
}
