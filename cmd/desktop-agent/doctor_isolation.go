package main

import (
	"context"
	"errors"
	"os"
	"runtime"

	"desktop-agent/internal/seal"
	"desktop-agent/sandbox"
)

// isolation tells how far the tasks of suites are kept apart from this machine. Runs
// do without it.
func (p *checkup) isolation(ctx context.Context) (string, error) {
	found, err := suiteFlags{}.isolation(ctx)
	if err != nil {
		text := oneLine(err) + ", so that bench refuses"
		if hint := hintOf(err); hint != "" {
			text += ": " + hint
		}
		return text, errNotChecked
	}
	p.limited = found.Limits
	return "tasks of suites have files, /etc, devices, processes, terminals and memory of their own, and no network unless --network is given", nil
}

// limits tells what bounds the tasks of suites.
func (p *checkup) limits(context.Context) (string, error) {
	if p.limited == "" {
		return "", errEarlier
	}
	return "of each task: " + p.limited, nil
}

// apart tells what a private desktop keeps apart, and what it does not.
func (p *checkup) apart(ctx context.Context) (string, error) {
	own := "devices and shared memory of their own"
	why := sandbox.Probe(ctx)
	if why != nil {
		own = "the devices and the shared memory of the machine (" + oneLine(why) + ")"
	}
	as := "as this user, with its files"
	if os.Getuid() == 0 {
		as = "as root, with all files"
	}
	text := "programs of --virtual have " + own + ", and no key, no open file and no terminal of this program; they run " + as + ", processes and network"
	if why != nil {
		return text, errNotChecked
	}
	return text, nil
}

// keys tells who can read the keys.
func (p *checkup) keys(context.Context) (string, error) {
	if runtime.GOOS != "linux" {
		return "who can read them is not known on this system", errNotChecked
	}
	sealed, err := seal.Sealed()
	if err != nil {
		return "", err
	}
	if !sealed {
		return "", hintError{errors.New("programs of this user can look into this one"), "does the kernel, or a container, refuse PR_SET_DUMPABLE?"}
	}
	text := "in this program's memory alone, and in the shell or file that they came from; no program of this user can look into this one, root can"
	if os.Getuid() == 0 {
		text += ": that is what programs here run as, so start it as a normal user"
	}
	return text, nil
}
