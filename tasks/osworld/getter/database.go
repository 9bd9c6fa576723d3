package getter

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
	"unicode/utf8"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"desktop-agent/tasks"
)

const (
	// maxDatabase is how many bytes a database may have.
	maxDatabase = 512 << 20
	// maxRows is how many rows are read, and maxCell how many bytes of a cell.
	maxRows = 200_000
	maxCell = 1 << 20
	// maxText is how many bytes SQLite may make a text or row of.
	maxText = 16 << 20
	// maxRowBytes is how many bytes are read of all rows.
	maxRowBytes = 256 << 20
	// queryLimit is how long a query may take.
	queryLimit = 30 * time.Second
)

// cookies is cookie_data: the rows of the table of cookies. The second column is the
// domain.
func (g *getter) cookies(ctx context.Context) (tasks.Value, error) {
	return g.rows(ctx, "Default/Cookies", "SELECT * FROM cookies")
}

// history is history: rows of URL, title and the time of the last visit, in
// microseconds since 1601.
func (g *getter) history(ctx context.Context) (tasks.Value, error) {
	return g.rows(ctx, "Default/History", "SELECT url, title, last_visit_time FROM urls")
}

// rows reads a table of a database of the browser. The database is copied, with
// what was written to it last, and opened for reading only; a view in place of
// the table, which could be endless, ends with the limit.
func (g *getter) rows(ctx context.Context, file, query string) (tasks.Value, error) {
	dest, err := need(g.p, "dest")
	if err != nil {
		return nil, err
	}
	name, err := g.place(dest)
	if err != nil {
		return nil, err
	}
	// What SQLite notes about a database does not fit another one.
	if err := os.Remove(name + "-shm"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	found := false
	for _, folder := range profiles {
		if found, err = g.fetch(ctx, folder+"/"+file, name, maxDatabase); err != nil {
			return nil, err
		}
		if found {
			if _, err := g.fetch(ctx, folder+"/"+file+"-wal", name+"-wal", maxDatabase); err != nil {
				return nil, err
			}
			break
		}
	}
	if !found {
		return nil, nil
	}
	limited, cancel := context.WithTimeout(ctx, queryLimit)
	defer cancel()
	rows, err := readRows(limited, name, query)
	if err != nil && ctx.Err() == nil {
		g.o.Log.InfoContext(ctx, "no rows", "path", file, "err", err)
		return nil, nil
	}
	return rows, err
}

// readRows returns the rows of a query.
func readRows(ctx context.Context, file, query string) (list []any, err error) {
	file, err = filepath.Abs(file)
	if err != nil {
		return nil, err
	}
	source := url.URL{Scheme: "file", Path: filepath.ToSlash(file), RawQuery: "mode=ro&_pragma=trusted_schema(0)&_pragma=query_only(1)"}
	if !regular(file + "-wal") {
		source.RawQuery += "&immutable=1" // nobody else has the copy
	}
	db, err := sql.Open("sqlite", source.String())
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	// A view could make texts of a billion bytes out of none.
	if _, err := sqlite.Limit(conn, sqlite3.SQLITE_LIMIT_LENGTH, maxText); err != nil {
		return nil, err
	}
	rows, err := conn.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	list = []any{}
	size := 0
	for rows.Next() {
		cells, into := make([]any, len(columns)), make([]any, len(columns))
		for i := range cells {
			into[i] = &cells[i]
		}
		if err := rows.Scan(into...); err != nil {
			return nil, err
		}
		for i := range cells {
			cells[i] = cell(cells[i])
			if text, ok := cells[i].(string); ok {
				size += len(text)
			}
		}
		if list = append(list, cells); len(list) > maxRows || size > maxRowBytes {
			return nil, fmt.Errorf("more than %d rows or %d bytes", maxRows, maxRowBytes)
		}
	}
	return list, rows.Err()
}

// cell returns a cell as JSON has it. Bytes that are no text are written in
// hexadecimal digits.
func cell(v any) any {
	switch v := v.(type) {
	case int64:
		return float64(v)
	case []byte:
		if !utf8.Valid(v) {
			return fmt.Sprintf("%x", v[:min(len(v), maxCell/2)])
		}
		return string(v[:min(len(v), maxCell)])
	case string:
		return v[:min(len(v), maxCell)]
	case time.Time:
		return v.Format(time.RFC3339)
	}
	return v
}
