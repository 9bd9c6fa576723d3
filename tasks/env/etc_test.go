//go:build linux

package env_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"desktop-agent/tasks/env"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// changed is the role that changes the machine's /etc, which is its own here, while
// a task runs.
func changed() error {
	ctx := context.Background()
	shared := &env.Etc{}
	e, err := env.Start(ctx, &env.Options{Etc: shared})
	if err != nil {
		return err
	}
	const look = "id -un; getent passwd user; cat /etc/passwd /etc/group /etc/hosts /etc/resolv.conf /etc/new 2>&1; ls /etc"
	var seen [2]string
	for i := range seen {
		out, err := e.Run(ctx, env.Command{Args: []string{look}, Shell: true})
		if err != nil {
			return err
		}
		seen[i] = string(out.Stdout) + string(out.Stderr)
		for _, name := range []string{"passwd", "group", "hosts", "resolv.conf", "new"} {
			if err := os.WriteFile("/etc/.next", []byte("changed:x:1:1::/:/bin/sh\n"), 0o644); err != nil {
				return err
			}
			if err := os.Rename("/etc/.next", "/etc/"+name); err != nil {
				return err
			}
		}
	}
	fmt.Printf("same: %v\n%s", seen[0] == seen[1], seen[1])
	return errors.Join(e.Close(), next("its own: ", shared), shared.Close(), next("the machine's: ", shared), shared.Close())
}

// next starts an environment with an /etc and says which of the changed files it shows.
func next(label string, shared *env.Etc) error {
	e, err := env.Start(context.Background(), &env.Options{Etc: shared})
	if err != nil {
		return err
	}
	out, err := e.Run(context.Background(), env.Command{Args: []string{"cd /etc; id -un; grep -l changed: * 2>/dev/null"}, Shell: true})
	fmt.Printf("%s%q\n", label, out.Stdout)
	return errors.Join(err, e.Close())
}

// What becomes of the machine's /etc while a task runs shows in nothing that the
// task sees: neither its user's name nor the name servers change. Of what becomes of it
// between tasks that share a copy only the users and the names of machines show.
func TestEtcStays(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can have an /etc to change")
	}
	require.NoError(t, isolated(t, nil).Close())
	need(t, "unshare")
	self, err := os.Executable()
	require.NoError(t, err)
	copied := t.TempDir()
	cmd := exec.Command("unshare", "--mount", "sh", "-ec", `cp -a /etc/. "$1"; mount --bind "$1" /etc; exec "$2"`, "sh", copied, self)
	cmd.Env = append(os.Environ(), role+"=changed")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	require.Contains(t, string(out), "same: true\nuser\nuser:x:")
	first, later, ok := strings.Cut(string(out), "its own: ")
	require.True(t, ok, string(out))
	require.NotContains(t, first, "changed:")
	require.Equal(t, `"user\ngroup\nhosts\npasswd\nresolv.conf\n"`+"\nthe machine's: "+`"user\ngroup\nhosts\nnew\npasswd\nresolv.conf\n"`+"\n", later)
}

// attacks tries to change what a task sees as /etc, in every way that a program has.
const attacks = `for f in /etc/profile /etc/passwd /etc/hosts; do echo attacked >>$f; rm -f $f; mv $f $f.old; chmod 666 $f; done
touch /etc/attacked; ln -s /tmp /etc/attacked-link
mount -o remount,rw /etc; mount -o remount,bind,rw /etc; umount /etc/passwd; umount -l /etc
unshare --user --map-root-user --mount sh -c 'mount -o remount,bind,rw /etc; mount -o remount,rw /etc; umount -l /etc/passwd; umount -l /etc; touch /etc/attacked; echo attacked >>/etc/profile; chmod 777 /etc'
true`

// sharing has two tasks share a copy of /etc, of which one attacks it.
func sharing() error {
	ctx, shared := context.Background(), &env.Etc{}
	var all [2]*env.Env
	for i := range all {
		e, err := env.Start(ctx, &env.Options{Etc: shared})
		if err != nil {
			return err
		}
		all[i] = e
	}
	const look = `cd /etc; stat -c "%d:%i %A %s" profile passwd . ; find . -type f -readable -exec cat {} + | sha256sum; ls -A | wc -l`
	see := func(e *env.Env, script string) string {
		out, err := e.Run(ctx, env.Command{Args: []string{script}, Shell: true})
		return fmt.Sprintf("%s%s%v", out.Stdout, out.Stderr, err)
	}
	before := [2]string{see(all[0], look), see(all[1], look)}
	see(all[0], attacks)
	fmt.Printf("the one stays: %v\nthe other stays: %v\n", see(all[0], look) == before[0], see(all[1], look) == before[1])
	inode := "stat -c %d:%i /etc/profile /etc/passwd"
	one, other := strings.Fields(see(all[0], inode)), strings.Fields(see(all[1], inode))
	fmt.Printf("one copy: %v\nusers of its own: %v\n", one[0] == other[0], one[1] != other[1])
	err := all[0].Close()
	fmt.Printf("stays when one ends: %v\n", see(all[1], look) == before[1])
	third, e := env.Start(ctx, &env.Options{Etc: shared})
	if err = errors.Join(err, e, all[1].Close()); err != nil {
		return err
	}
	fmt.Printf("none attacked: %v\nthe next sees: %s\n", !strings.Contains(see(third, "ls /etc; cat /etc/profile"), "attacked"), see(third, look))
	fmt.Printf("nothing secret: %v\n", see(third, "find /etc -type f -size +0 ! -perm -004 2>/dev/null; find /etc -type f -writable 2>/dev/null; true") == "<nil>")
	return errors.Join(third.Close(), shared.Close(), shared.Close())
}

// Tasks share one copy of /etc, of which none can change anything, and it goes: for root
// and for a normal user.
func TestEtcIsShared(t *testing.T) {
	require.NoError(t, isolated(t, nil).Close())
	ways := map[string]*exec.Cmd{"this user": inProc(t, "sharing", "555")}
	if os.Getuid() == 0 {
		ways["a normal user"] = asUser(t, "sharing")
	}
	for name, cmd := range ways {
		t.Run(name, func(t *testing.T) {
			out, err := cmd.CombinedOutput()
			if strings.Contains(string(out), "bubblewrap does not work here") {
				t.Skip("not held here for a normal user: ", string(out))
			}
			require.NoError(t, err, string(out))
			t.Log(string(out))
			for _, line := range []string{"the one stays", "the other stays", "one copy", "users of its own", "stays when one ends", "none attacked", "nothing secret"} {
				assert.Contains(t, string(out), line+": true\n")
			}
		})
	}
}

// The copy of /etc goes when its owner is killed, while a task runs and between tasks.
func TestEtcOfTheKilled(t *testing.T) {
	require.NoError(t, isolated(t, nil).Close())
	for _, when := range []string{"during", "between"} {
		t.Run(when, func(t *testing.T) {
			folder, err := os.MkdirTemp("/tmp", "env-test-") // a longer one is not taken for a desktop
			require.NoError(t, err)
			defer os.RemoveAll(folder)
			owner, _ := startOwner(t, when, "TMPDIR="+folder)
			copies, err := filepath.Glob(folder + "/desktop-agent-*/etc/profile")
			require.NoError(t, err)
			require.Len(t, copies, 1)
			require.NoError(t, owner.Process.Kill())
			require.Error(t, owner.Wait())
			require.Eventually(t, func() bool {
				left, err := os.ReadDir(folder)
				return err == nil && len(left) == 0 && len(carriers(folder)) == 0 // who removed it ends after that
			}, time.Minute, 20*time.Millisecond)
		})
	}
}

// owns has a copy of /etc and waits to be killed, with a task that runs or after it.
func owns(runs bool) func() error {
	return func() error {
		e, err := env.Start(context.Background(), &env.Options{Etc: &env.Etc{}})
		if err == nil && !runs {
			err = e.Close()
		}
		if err != nil {
			return err
		}
		fmt.Println("ready")
		select {}
	}
}
