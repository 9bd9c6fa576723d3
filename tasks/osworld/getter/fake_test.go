package getter

import (
	"context"
	"errors"
	"fmt"
	"image"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"desktop-agent/screen"
	"desktop-agent/tasks"
	"desktop-agent/tasks/env"
	"desktop-agent/tasks/osworld/defect"
	"desktop-agent/tasks/osworld/defect/defecttest"
)

// proof is told of the cases of the tests: each defect must change what comes of one.
var proof = defecttest.Proof{List: Defects}

func TestMain(m *testing.M) { goleak.VerifyTestMain(proof.After(m)) }

// A fake is a computer that tests have made.
type fake struct {
	files   map[string]string // by path; those outside of /home/user and /tmp are read by a command alone
	run     func(c env.Command) (env.Output, error)
	windows []screen.Window
	root    *object   // the accessibility tree
	roots   []*object // what it is at first, one look after the other
	server  string    // the address that connections to dials go to
	dials   string
	now     time.Time
	network bool
	err     error // the computer is gone

	started []env.Command
}

func (f *fake) Run(_ context.Context, c env.Command) (env.Output, error) {
	if c.Args[0] == "sh" && strings.Contains(c.Args[2], "cat") {
		text, ok := f.files[c.Args[4]]
		if !ok {
			return env.Output{Code: 1, Stderr: []byte("no such file")}, nil
		}
		return env.Output{Stdout: []byte(text)}, nil
	}
	if f.run == nil {
		return env.Output{}, errors.New("nothing can be run here")
	}
	return f.run(c)
}

func (f *fake) Start(_ context.Context, c env.Command) error {
	f.started = append(f.started, c)
	return nil
}

func (f *fake) Fetch(guest, dest string, limit int64) error {
	guest = env.Abs(guest)
	if !strings.HasPrefix(guest, env.Home+"/") && !strings.HasPrefix(guest, "/tmp/") {
		return env.ErrOutside
	}
	text, ok := f.files[guest]
	if !ok || f.err != nil {
		return fs.ErrNotExist
	}
	if int64(len(text)) > limit {
		return env.ErrTooLarge
	}
	if err := os.MkdirAll(filepath.Dir(dest), 0o755); err != nil {
		return err
	}
	return os.WriteFile(dest, []byte(text), 0o644)
}

func (f *fake) Dial(ctx context.Context, address string) (net.Conn, error) {
	if f.server == "" || address != f.dials {
		address = "127.0.0.1:1" // nothing listens there
	} else {
		address = f.server
	}
	return (&net.Dialer{}).DialContext(ctx, "tcp", address)
}

func (f *fake) Windows(context.Context) ([]screen.Window, error) { return f.windows, nil }
func (f *fake) Size() image.Point                                { return image.Pt(1920, 1080) }
func (f *fake) Now() time.Time                                   { return f.now }
func (f *fake) Network() bool                                    { return f.network }
func (f *fake) BusAddress() string                               { return "" }
func (f *fake) Server() int                                      { return 0 }
func (f *fake) Err() error                                       { return f.err }

func (f *fake) accessible(context.Context, view) (*object, error) {
	if len(f.roots) > 0 {
		first := f.roots[0]
		f.roots = f.roots[1:]
		return first, nil
	}
	if f.root == nil {
		return &object{role: "desktop frame", name: "main"}, nil
	}
	return f.root, nil
}

// answers returns a program runner that prints a text for each command line.
func answers(t *testing.T, of map[string]string) func(env.Command) (env.Output, error) {
	return func(c env.Command) (env.Output, error) {
		text, ok := of[strings.Join(c.Args, " ")]
		require.True(t, ok, "nobody expects %q", c.Args)
		return env.Output{Stdout: []byte(text)}, nil
	}
}

// params are the parameters of a look: keys and values in turn.
func params(pairs ...any) tasks.Params {
	p := tasks.Params{}
	for i := 0; i < len(pairs); i += 2 {
		p[pairs[i].(string)] = pairs[i+1]
	}
	return p
}

// get looks, and fails the test if that is an error.
func get(t *testing.T, f *fake, kind string, p tasks.Params, o *Options) tasks.Value {
	t.Helper()
	if o != nil && o.Defects != 0 {
		proof.Case(kind, func(of defect.Set) string {
			with := *o
			with.Defects = of
			value, err := Get(t.Context(), f, &tasks.Getter{Type: kind, Params: p}, &with)
			return fmt.Sprintf("%v %v", value, err)
		})
	}
	value, err := Get(t.Context(), f, &tasks.Getter{Type: kind, Params: p}, o)
	require.NoError(t, err)
	return value
}

// in returns options with a folder of the test.
func in(t *testing.T) *Options { return &Options{Dir: t.TempDir()} }

// content returns what is in a file that a look gave.
func content(t *testing.T, value tasks.Value) string {
	t.Helper()
	file, ok := value.(tasks.File)
	require.True(t, ok, "%T is no file", value)
	text, err := os.ReadFile(file.Path)
	require.NoError(t, err)
	return string(text)
}
