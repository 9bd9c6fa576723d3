package bench

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"desktop-agent/internal/filelock"
	"desktop-agent/tasks"
)

const (
	journalName = "results.jsonl"
	maxLine     = 4 << 20 // bytes of a result in the journal
)

// errBusy says that another process writes the results.
var errBusy = errors.New("another process writes these results: wait for it, or use another folder")

// A journal is the file of all results of a results folder, a line for each.
// What it has was on the disk before anybody was told.
type journal struct {
	Results []tasks.Result // in the order of their ends, one of each trial

	file *os.File
	have map[string]bool // tokens
}

// ReadResults returns the results of a results folder; none if it has no journal.
// It may be called while somebody writes them.
func ReadResults(dir string) ([]tasks.Result, error) {
	f, err := os.Open(filepath.Join(dir, journalName))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	defer f.Close()
	j := &journal{file: f, have: map[string]bool{}}
	_, err = j.read()
	return j.Results, err
}

// openJournal opens the journal of a results folder to add to it; both are made
// if need be. There is one writer at a time, else the error is errBusy. A last
// line that was not written to its end is removed.
func openJournal(dir string) (*journal, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(dir, journalName), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	j := &journal{file: f, have: map[string]bool{}}
	if err := j.open(dir); err != nil {
		return nil, errors.Join(err, filelock.Close(f))
	}
	return j, nil
}

func (j *journal) open(dir string) error {
	err := filelock.Lock(j.file)
	if errors.Is(err, filelock.ErrLocked) {
		err = errBusy
	}
	if err != nil {
		return fmt.Errorf("%s: %w", j.file.Name(), err)
	}
	end, err := j.read()
	if err != nil {
		return err
	}
	if err := j.file.Truncate(end); err != nil {
		return err
	}
	if _, err := j.file.Seek(end, io.SeekStart); err != nil {
		return err
	}
	return syncDir(dir) // the file's name is as durable as its lines
}

// read reads all lines and returns where the last whole one ends.
func (j *journal) read() (end int64, err error) {
	in := bufio.NewReaderSize(j.file, 64<<10)
	for n := 1; ; n++ {
		line, err := readLine(in)
		if errors.Is(err, io.EOF) {
			return end, nil // without its newline, a line was not written to its end
		} else if err != nil {
			return end, fmt.Errorf("%s, line %d: %w", j.file.Name(), n, err)
		}
		if err := j.take(line); err != nil {
			return end, fmt.Errorf("%s, line %d: %w; repair or remove the line", j.file.Name(), n, err)
		}
		end += int64(len(line))
	}
}

// take keeps what a line says. The first result of a trial is the one that counts.
func (j *journal) take(line []byte) error {
	if len(bytes.TrimSpace(line)) == 0 {
		return nil
	}
	var r tasks.Result
	if err := json.Unmarshal(line, &r); err != nil {
		return err
	}
	if err := checkTrial(trialOf(&r)); err != nil {
		return err
	}
	if key := token(trialOf(&r)); !j.have[key] {
		j.have[key] = true
		j.Results = append(j.Results, r)
	}
	return nil
}

// readLine returns a line with its newline.
func readLine(in *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		line = append(line, part...)
		if len(line) > maxLine {
			return nil, fmt.Errorf("the line is longer than %d bytes", maxLine)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// has reports whether a trial has a result.
func (j *journal) has(t tasks.Trial) bool { return j.have[token(t)] }

// add writes the result of a trial and waits until it is on the disk. It reports
// false, and writes nothing, if the trial has a result already.
func (j *journal) add(r tasks.Result) (bool, error) {
	key := token(trialOf(&r))
	if j.have[key] {
		return false, nil
	}
	line, err := json.Marshal(r)
	if err != nil {
		return false, fmt.Errorf("journal: %w", err)
	}
	start, err := j.file.Seek(0, io.SeekCurrent)
	if err != nil {
		return false, fmt.Errorf("journal: %w", err)
	}
	_, err = j.file.Write(append(line, '\n'))
	if err = errors.Join(err, j.file.Sync()); err != nil {
		// What a full disk left of the line must not become part of the next.
		_, undo := j.file.Seek(start, io.SeekStart)
		return false, fmt.Errorf("journal: %w", errors.Join(err, undo, j.file.Truncate(start)))
	}
	j.have[key] = true
	j.Results = append(j.Results, r)
	return true, nil
}

// Close gives the results folder free for another writer.
func (j *journal) Close() error { return filelock.Close(j.file) }

func trialOf(r *tasks.Result) tasks.Trial {
	return tasks.Trial{Task: r.Task, Config: r.Config, Repeat: r.Repeat}
}
