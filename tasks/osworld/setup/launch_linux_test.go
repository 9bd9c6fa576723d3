package setup_test

import (
	"context"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"desktop-agent/screen"
	"desktop-agent/tasks"
	"desktop-agent/tasks/env"
	"desktop-agent/tasks/osworld/defect"
	"desktop-agent/tasks/osworld/setup"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Many tasks end the browser before they look, by the name that it has on another
// machine, and start it again at once: the new one must neither be ended with the old
// one nor hand over to it, whether that is open, closed or busy.
func TestRestart(t *testing.T) {
	e := start(t)
	need(t, e, "google-chrome")
	need(t, e, "pkill")
	run(t, e, `echo '<title>busy</title><body><script>onload=function(){setTimeout(function(){for(;;);},200)}</script>' > busy.html`)
	restart := []tasks.Step{step(t, "launch", `{"command":["pkill","chrome"]}`), step(t, "launch", `{"command":["google-chrome","--remote-debugging-port=1337"]}`)}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, address string) (net.Conn, error) {
		return e.Dial(ctx, address)
	}}}
	for _, state := range []string{"closed", "open", "busy"} { // each begins with the browser that the one before started
		t.Run(state, func(t *testing.T) {
			if state == "busy" {
				require.NoError(t, e.Start(t.Context(), env.Command{Args: []string{"google-chrome", "file:///home/user/busy.html"}}))
				_, err := e.WaitWindow(t.Context(), func(w screen.Window) bool { return strings.Contains(w.Title, "busy") })
				require.NoError(t, err)
			}
			old := strings.Fields(run(t, e, "pgrep -o -x chromium; pgrep -o -x chrome"))
			assert.Equal(t, state == "closed", len(old) == 0, old)
			shown, err := e.Windows(t.Context())
			require.NoError(t, err)
			require.NoError(t, setup.Do(t.Context(), e, restart, nil))
			for _, pid := range old {
				assert.NotContains(t, strings.Fields(run(t, e, "pgrep chrom")), pid, "the old browser has ended")
			}
			windows, err := e.Windows(t.Context())
			require.NoError(t, err)
			require.NotEmpty(t, windows, "the new one shows its window")
			assert.NotContains(t, e.Notes(), "showed no new window", "and is not waited for in vain: %v and then %v", shown, windows)
			require.Eventually(t, func() bool {
				response, err := client.Get("http://localhost:1337/json/version")
				if err != nil {
					return false
				}
				return response.Body.Close() == nil
			}, 60*time.Second, 100*time.Millisecond, "it is the new one that listens")
		})
	}
}

// Programs are ended by the names that tasks know, and no others are.
func TestKill(t *testing.T) {
	e := start(t)
	need(t, e, "pkill")
	need(t, e, "killall")
	all := []string{"chrome", "chromium", "gimp-2.10", "soffice.bin"}
	run(t, e, "mkdir b; for n in "+strings.Join(all, " ")+"; do cp /bin/sleep b/$n; done")
	// One that a signal is on its way to is gone, whenever a busy machine lets it end.
	run(t, e, `cat >left <<'end'
		echo $(cat /proc/[0-9]*/status 2>/dev/null | awk '
			function tell() {if (!gone && name ~ /^(chrom|gimp|soffice)/) print name}
			/^Name:/ {tell(); name = $2} /^State:/ {gone = $2 ~ /[ZX]/} /^S(ig|hd)Pnd:/ {gone = gone || $2 !~ /^0+$/}
			END {tell()}' | sort)
end`)
	for command, want := range map[string]string{
		"pkill chrome":                     "gimp-2.10 soffice.bin",
		"pkill -x google-chrome":           "gimp-2.10 soffice.bin",
		"pkill -9 chrome":                  "gimp-2.10 soffice.bin",
		"pkill --signal SIGKILL chromium":  "gimp-2.10 soffice.bin",
		"pkill -KILL gimp":                 "chrome chromium soffice.bin",
		"pkill -f b/chrome":                "chromium gimp-2.10 soffice.bin",
		"pkill libreoffice":                "chrome chromium gimp-2.10",
		"pkill -0 chrome":                  "chrome chromium gimp-2.10 soffice.bin",
		"pkill none":                       "chrome chromium gimp-2.10 soffice.bin",
		"pkill --echo gimp":                "chrome chromium soffice.bin",
		"killall chrome":                   "gimp-2.10 soffice.bin",
		"killall -9 google-chrome gimp":    "soffice.bin",
		"killall soffice":                  "chrome chromium gimp-2.10",
		"killall gimp-2.10 soffice.bin":    "chrome chromium",
		"sudo pkill vlc; pkill -TERM gimp": "chrome chromium soffice.bin",
	} {
		run(t, e, `for f in b/*; do $f 1000 >/dev/null 2>&1 & done; until [ "$(. ./left)" = "`+strings.Join(all, " ")+`" ]; do sleep 0.02; done`)
		require.NoError(t, do(t, e, nil, "launch", `{"command":"`+command+`","shell":true}`))
		left := strings.Split(run(t, e, ". ./left; pkill '^(chrom|gimp|soffice)'; . ./left"), "\n")
		assert.Equal(t, want, left[0], command)
		require.Empty(t, left[1])
	}
	out, err := e.Run(t.Context(), env.Command{Args: []string{"pkill", "none"}})
	require.NoError(t, err)
	assert.Equal(t, 1, out.Code, "there was none")
}

// A command without a window is waited for until it has ended; a server is not.
func TestLaunchEnds(t *testing.T) {
	e := start(t)
	require.NoError(t, do(t, e, nil, "launch", `{"command":"sleep 0.5; touch done","shell":true}`))
	assert.Contains(t, run(t, e, "ls"), "done\n")
	need(t, e, "socat")
	require.NoError(t, do(t, e, nil, "launch", `{"command":["socat","tcp-listen:9222,fork","tcp:localhost:1337"]}`))
	assert.Equal(t, "1\n", run(t, e, "pgrep -c socat"), "it goes on")
	ctx, cancel := context.WithTimeout(t.Context(), 25*time.Second) // less than what is waited for a command
	defer cancel()
	require.NoError(t, setup.Do(ctx, e, []tasks.Step{step(t, "launch", `{"command":"echo begun; sleep 0.3; exec socat tcp6-listen:9223,fork tcp:localhost:1337","shell":true}`)}, nil))
	assert.Contains(t, run(t, e, "cat /proc/net/tcp6"), ":2407 ", "it listens")
}

// A program that shows no window does not end a set-up: as with OSWorld it goes on, and
// says so in a note. It is not waited for longer than it can be expected to come.
func TestLaunchShowsNothing(t *testing.T) {
	e := start(t)
	need(t, e, "xterm")
	for command, note := range map[string]string{
		`["xterm","-no-such-option"]`:                           "xterm -no-such-option",
		`["env","LANG=C","xterm","-no-such-option"]`:            "env LANG=C xterm -no-such-option",
		`"cd /home/user && xterm -no-such-option","shell":true`: "cd /home/user && xterm -no-such-option",
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 55*time.Second) // less than what is waited for a window
		require.NoError(t, setup.Do(ctx, e, []tasks.Step{step(t, "launch", `{"command":`+command+`}`)}, &setup.Options{Codes: true}))
		cancel()
		assert.Contains(t, e.Notes(), "launched, and showed no new window: "+note)
	}
	require.NoError(t, do(t, e, nil, "launch", `{"command":"xvfb-run --no-such-option xterm","shell":true}`))
	assert.NotContains(t, e.Notes(), "xvfb-run", "its window would be on another display")
}

// What a command of a set-up should have done and has not is an error that says why:
// else a task could begin as it should end. With OSWorld's defects it is not.
func TestNoEffect(t *testing.T) {
	e := start(t)
	edit := step(t, "execute", `{"command":"cd .config/google-chrome/Default && sed -i s/true/false/ Preferences","shell":true}`)
	err := setup.Do(t.Context(), e, []tasks.Step{edit}, &setup.Options{Codes: true})
	require.ErrorContains(t, err, "set-up step 1 (execute): cd .config")
	require.ErrorContains(t, err, "exit status")
	require.ErrorContains(t, err, ".config/google-chrome/Default")
	require.NoError(t, setup.Do(t.Context(), e, []tasks.Step{edit}, &setup.Options{Defects: defect.When(true)}))

	need(t, e, "xterm")
	require.NoError(t, do(t, e, &setup.Options{Codes: true}, "execute", `{"command":"echo p | sudo -S apt-get update -y && echo p | sudo -S apt install -y xterm && touch made","shell":true}`))
	assert.Contains(t, run(t, e, "ls"), "made\n", "what is there needs no installing")
	err = do(t, e, &setup.Options{Codes: true}, "execute", `{"command":["sudo","apt-get","install","no-such-package"]}`)
	require.ErrorContains(t, err, "not installed on this machine, which no task can change: no-such-package")
}
