package setup

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"desktop-agent/tasks"
	"desktop-agent/tasks/env"

	_ "modernc.org/sqlite" // the driver
)

const (
	// historyFile is where Chrome keeps what was visited.
	historyFile = "~/.config/google-chrome/Default/History"
	// maxHistory is how many bytes of it are read.
	maxHistory = 256 << 20
	// visited is the transition of a visit: a link in a chain of its own
	// (PAGE_TRANSITION_LINK | CHAIN_START | CHAIN_END).
	visited = 805306368
)

// epoch is the time from which Chrome counts microseconds.
var epoch = time.Date(1601, 1, 1, 0, 0, 0, 0, time.UTC)

// A visit is one line of a browsing history.
type visit struct {
	url, title string
	ago        time.Duration
}

func checkHistory(p tasks.Params) error {
	_, err := visits(p)
	return err
}

// visits reads the lines of a browsing history.
func visits(p tasks.Params) ([]visit, error) {
	items, err := p.Maps("history")
	if err == nil && len(items) == 0 {
		err = errors.New("history is missing")
	}
	if err != nil {
		return nil, err
	}
	list := make([]visit, len(items))
	for i, item := range items {
		v := &list[i]
		var seconds float64
		var err1, err2, err3 error
		v.url, err1 = need(item, "url")
		v.title, err2 = item.Text("title")
		seconds, err3 = item.Number("visit_time_from_now_in_seconds")
		if err := errors.Join(err1, err2, err3); err != nil {
			return nil, err
		}
		if !(seconds >= 0 && seconds < 1e10) {
			return nil, fmt.Errorf("visit_time_from_now_in_seconds: %v is no time in the past", seconds)
		}
		v.ago = time.Duration(seconds) * time.Second
	}
	return list, nil
}

// history adds visits to the history of Chrome, which must not be running. Where
// there is none yet, Chrome itself makes an empty one: its tables are not the same
// in all versions.
func (r *run) history(ctx context.Context, p tasks.Params) error {
	list, err := visits(p)
	if err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "history-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	file := filepath.Join(folder, "History")
	err = r.e.Fetch(historyFile, file, maxHistory)
	if errors.Is(err, fs.ErrNotExist) {
		out, runErr := r.e.Run(ctx, env.Command{Args: []string{"google-chrome", "--headless", "--dump-dom", "about:blank"}})
		if runErr != nil {
			return runErr
		}
		if err = r.e.Fetch(historyFile, file, maxHistory); err != nil {
			return &outputError{output: tail(out), err: fmt.Errorf("chrome makes no history: %w", err)}
		}
	}
	if err != nil {
		return err
	}
	if err := addVisits(ctx, file, list, r.e.Now()); err != nil {
		return err
	}
	return r.e.Put(file, historyFile)
}

// addVisits writes visits into a history of Chrome.
func addVisits(ctx context.Context, file string, list []visit, now time.Time) (err error) {
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Opaque: url.PathEscape(file), RawQuery: "_pragma=journal_mode(delete)"}).String())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // fails once it is committed
	for _, v := range list {
		at := now.Add(-v.ago).UnixMicro() - epoch.UnixMicro()
		page, err := tx.ExecContext(ctx,
			"INSERT INTO urls (url, title, visit_count, typed_count, last_visit_time, hidden) VALUES (?, ?, 1, 0, ?, 0)", v.url, v.title, at)
		if err != nil {
			return fmt.Errorf("history: %w", err)
		}
		id, err := page.LastInsertId()
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx,
			"INSERT INTO visits (url, visit_time, from_visit, transition, segment_id, visit_duration) VALUES (?, ?, 0, ?, 0, 0)", id, at, visited)
		if err != nil {
			return fmt.Errorf("history: %w", err)
		}
	}
	return tx.Commit()
}
