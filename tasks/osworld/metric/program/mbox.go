package program

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"desktop-agent/tasks"
)

// fromPattern is the line before a message in a folder. It has the time at which the
// message was put there, which is not part of the message.
var fromPattern = regexp.MustCompile(`(?m)^(?:From|FROM) - .*$\n?`)

// keysPattern and statusPattern are what Thunderbird writes on a message: its tags, and
// whether it was read, answered, deleted …
var (
	keysPattern   = regexp.MustCompile(`(?m)^X-Mozilla-Keys:.*$\n?`)
	statusPattern = regexp.MustCompile(`(?m)^X-Mozilla-Status2?:.*$\n?`)
	flagsPattern  = regexp.MustCompile(`(?m)^X-Mozilla-Status: *([0-9A-Fa-f]{4})\s*$`)
)

// expunged is the flag of a deleted message in X-Mozilla-Status.
const expunged = 0x0008

// folderOptions are those of check_thunderbird_folder.
type folderOptions struct {
	ignoreStatus, ignoreKeys        bool
	removeDeleted, removeDuplicates bool
}

// thunderbirdFolder is check_thunderbird_folder: folders of messages, or single
// messages, have the same messages as the expected ones, in any order. It takes a File
// or Files and compares them one by one with those expected. The options are
// ignore_status and ignore_keys (both false if not given), remove_deleted and
// remove_duplicate (both true).
func (j judge) thunderbirdFolder(ctx context.Context, result, expected tasks.Value, options tasks.Params) (tasks.Score, error) {
	if err := context.Cause(ctx); err != nil {
		return tasks.Score{}, err
	}
	opt, err := readFolderOptions(options)
	if err != nil {
		return tasks.Score{}, err
	}
	want, err := tasks.AllFiles(expected)
	if err != nil {
		return tasks.Score{}, fmt.Errorf("expected: %w", err)
	}
	var golds []string
	for i, file := range want {
		gold, why := readFile(file)
		if why != "" {
			return tasks.Score{}, fmt.Errorf("expected: file %d: %s", i+1, why)
		}
		golds = append(golds, gold)
	}
	got, err := tasks.AllFiles(result)
	if err != nil {
		return tasks.No(err.Error()), nil
	}
	if len(got) != len(want) && !j.Has(shorterFolders) {
		return tasks.No(fmt.Sprintf("the result is %d files and should be %d", len(got), len(want))), nil
	}
	for i := range min(len(got), len(want)) {
		text, why := readResult(got[i])
		if why != "" {
			return tasks.No(fmt.Sprintf("file %d: %s", i+1, why)), nil
		}
		if why := j.compareFolders(text, golds[i], opt); why != "" {
			return tasks.No(fmt.Sprintf("file %d: %s", i+1, why)), nil
		}
	}
	return tasks.Yes(), nil
}

// readFolderOptions reads the options of check_thunderbird_folder.
func readFolderOptions(options tasks.Params) (opt folderOptions, err error) {
	for key, to := range map[string]*bool{
		"ignore_status": &opt.ignoreStatus, "ignore_keys": &opt.ignoreKeys,
		"remove_deleted": &opt.removeDeleted, "remove_duplicate": &opt.removeDuplicates,
	} {
		*to = strings.HasPrefix(key, "remove_")
		if options.Has(key) {
			if *to, err = options.Bool(key); err != nil {
				return opt, fmt.Errorf("options: %w", err)
			}
		}
	}
	return opt, nil
}

// compareFolders says how two folders differ, "" if they do not.
func (j judge) compareFolders(got, want string, opt folderOptions) (why string) {
	if j.Has(emptyMessagesOnly) {
		if emptyMessages(got, opt) != emptyMessages(want, opt) {
			return "one folder is empty and the other is not"
		}
		return ""
	}
	gotMessages, wantMessages := messages(got, opt), messages(want, opt)
	if slices.Equal(gotMessages, wantMessages) {
		return ""
	}
	return fmt.Sprintf("it has %d messages, of which %d are among the %d expected",
		len(gotMessages), len(common(gotMessages, wantMessages)), len(wantMessages))
}

// messages returns the messages of a folder, sorted.
func messages(folder string, opt folderOptions) []string {
	var list []string
	folder = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(folder)
	for _, message := range fromPattern.Split(folder, -1) {
		if strings.TrimSpace(message) == "" {
			continue
		}
		head, body, _ := strings.Cut(strings.TrimLeft(message, "\n"), "\n\n")
		head += "\n"
		if opt.removeDeleted && isDeleted(head) {
			continue
		}
		if opt.ignoreStatus {
			head = statusPattern.ReplaceAllString(head, "")
		}
		if opt.ignoreKeys {
			head = keysPattern.ReplaceAllString(head, "")
		}
		list = append(list, strings.TrimSpace(head)+"\n\n"+strings.TrimSpace(body))
	}
	slices.Sort(list)
	if opt.removeDuplicates {
		list = slices.Compact(list)
	}
	return list
}

// isDeleted tells whether the header of a message says that it is deleted.
func isDeleted(head string) bool {
	m := flagsPattern.FindStringSubmatch(head)
	if m == nil {
		return false
	}
	flags, err := strconv.ParseUint(m[1], 16, 16)
	return err == nil && flags&expunged != 0
}

// emptyMessages counts the messages that the reference sees in a folder.
func emptyMessages(folder string, opt folderOptions) int {
	n := 0
	for message := range strings.SplitSeq(strings.TrimSpace(folder), "FROM - ") {
		if strings.TrimSpace(message) == "" {
			n++
		}
	}
	if opt.removeDuplicates {
		n = min(n, 1)
	}
	return n
}

// common returns the elements of a sorted list that are in another one.
func common(a, b []string) []string {
	var out []string
	for _, s := range a {
		if _, ok := slices.BinarySearch(b, s); ok {
			out = append(out, s)
		}
	}
	return out
}
