package sandbox

import (
	"bufio"
	"context"
	"fmt"
	"html"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// The window manager runs outside of the container of the [Guest], and as another user. So
// it starts none of the launchers itself: it writes the number of what was chosen to a
// pipe, and who reads it starts that program as [Desktop.Launch] does.
const ordersVariable = "DESKTOP_AGENT_LAUNCH"

// orders returns the path of that pipe. The guest does not see it.
func (d *Desktop) orders() string { return filepath.Join(d.folder, "orders") }

// order returns the command by which the window manager asks for a launcher, for XML.
func order(number int) string {
	return html.EscapeString(fmt.Sprintf(`sh -c 'echo %d >"$%s"'`, number, ordersVariable))
}

// takeOrders begins to start what the window manager asks for, until the desktop is closed.
func (d *Desktop) takeOrders() error {
	if len(d.options.Launchers) == 0 {
		return nil
	}
	if err := unix.Mkfifo(d.orders(), 0o600); err != nil {
		return fmt.Errorf("launchers: %w", err)
	}
	pipe, err := os.OpenFile(d.orders(), os.O_RDWR, 0) // with a writer of one's own it has no end
	if err != nil {
		return fmt.Errorf("launchers: %w", err)
	}
	closing, stop := context.WithCancel(context.Background())
	context.AfterFunc(closing, func() { pipe.Close() })
	d.watch.Go(func() {
		<-d.closing
		stop()
	})
	d.watch.Go(func() {
		for lines := bufio.NewScanner(pipe); lines.Scan(); {
			number, err := strconv.Atoi(strings.TrimSpace(lines.Text()))
			if err != nil || number < 0 || number >= len(d.options.Launchers) {
				continue
			}
			chosen := d.options.Launchers[number]
			if _, err := d.Launch(Command{Args: slices.Clone(chosen.Args)}); err != nil {
				d.options.Log.Warn("a program of the menu does not start", "name", chosen.Name, "err", err)
			}
		}
	})
	return nil
}
