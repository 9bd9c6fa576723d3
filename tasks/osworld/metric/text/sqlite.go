package text

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"net/url"
	"path/filepath"
	"strings"

	"modernc.org/sqlite"

	"desktop-agent/tasks"
	"desktop-agent/tasks/osworld/metric/rule"
)

const (
	maxDatabase = 512 << 20 // bytes
	maxCell     = 16 << 20  // bytes of a value within a query
)

// runSQL: the score is the first cell of what the query "sql" finds in the database,
// as a number; it is cut to 0 and 1, which the original does not do. The database is
// not changed, and a journal beside it is not read. No row, null and what is no number
// is 0.
func (j judge) runSQL(ctx context.Context, result, expected tasks.Value, _ tasks.Params) (tasks.Score, error) {
	p, err := rules(expected)
	if err != nil {
		return tasks.Score{}, err
	}
	query, err := p.Text("sql")
	if err != nil {
		return tasks.Score{}, err
	}
	if query == "" {
		return tasks.Score{}, fmt.Errorf("expected: the rules have no query at %q", "sql")
	}
	f, err := resultFile(result)
	if err != nil {
		return tasks.Score{}, err
	}
	if err := f.check(maxDatabase); err != nil {
		return tasks.Score{}, err
	}
	limited, cancel := context.WithTimeout(ctx, queryTime)
	defer cancel()
	value, err := firstCell(limited, f.path, query)
	switch {
	case ctx.Err() != nil:
		return tasks.Score{}, ctx.Err()
	case limited.Err() != nil:
		return tasks.Score{}, lacking("the query took more than %s", queryTime)
	case err != nil && strings.Contains(err.Error(), "syntax error"):
		return tasks.Score{}, fmt.Errorf("sql: %w", err)
	case err != nil:
		return tasks.Score{}, f.fault(err)
	}
	number, ok := cellNumber(value)
	if !ok {
		return tasks.No(fmt.Sprintf("the query gives %s", quote(value))), nil
	}
	return tasks.Score{Value: min(1, max(0, number)), Why: fmt.Sprintf("the query gives %v", number)}, nil
}

// Names of SQLite's run-time limits, see sqlite3_limit.
const (
	limitLength   = 0
	limitAttached = 7
)

// firstCell runs a query on a database that is only read. The database may be made to
// harm: its views and triggers may not call functions with effects.
func firstCell(ctx context.Context, path, query string) (value any, err error) {
	path, err = filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // of a drive
	}
	dsn := url.URL{Scheme: "file", Path: path,
		RawQuery: "mode=ro&immutable=1&_pragma=query_only(1)&_pragma=trusted_schema(0)"}
	db, err := sql.Open("sqlite", dsn.String())
	if err != nil {
		return nil, err
	}
	defer db.Close()
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	for id, limit := range map[int]int{limitLength: maxCell, limitAttached: 0} {
		if _, err := sqlite.Limit(conn, id, limit); err != nil {
			return nil, err
		}
	}
	rows, err := conn.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil || len(columns) == 0 || !rows.Next() {
		return nil, rows.Err()
	}
	cells := make([]any, len(columns))
	for i := range cells {
		cells[i] = new(any)
	}
	if err := rows.Scan(cells...); err != nil {
		return nil, err
	}
	return *(cells[0].(*any)), rows.Err()
}

func cellNumber(v any) (float64, bool) {
	switch v := v.(type) {
	case int64:
		return float64(v), true
	case float64:
		return v, !math.IsNaN(v)
	case bool:
		return float64(boolInt(v)), true
	case string:
		f, ok := rule.Float(v)
		return f, ok && !math.IsNaN(f)
	}
	return 0, false
}
