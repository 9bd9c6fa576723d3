package sandbox

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"
)

// A Bubble makes containers for programs, by bubblewrap: a process that does nothing
// holds the name spaces, and nsenter starts every program in them.
type Bubble struct{ bwrap, nsenter string }

// FindBubble finds the programs that make a container. The error is a [*NoContainerError].
func FindBubble() (*Bubble, error) {
	bwrap, err := exec.LookPath("bwrap")
	if err != nil {
		return nil, &NoContainerError{"bubblewrap is not installed", "apt-get install bubblewrap"}
	}
	enter, err := exec.LookPath("nsenter")
	if err != nil {
		return nil, &NoContainerError{"nsenter is not installed", "apt-get install util-linux"}
	}
	if _, err := os.Stat("/proc/self/ns/user"); err != nil { // by which programs enter
		return nil, &NoContainerError{"/proc is closed to this user", "let users enter it (chmod 555 /proc, or mount it without hidepid), or run as root"}
	}
	return &Bubble{bwrap: bwrap, nsenter: enter}, nil
}

// NoContainer is the error of bubblewrap that is there and does not work.
func NoContainer(why string) error {
	why = strings.TrimSpace(fmt.Sprintf("%.300s", strings.TrimSpace(why)))
	do := "see whether /proc/sys lets users make namespaces (user/max_user_namespaces, kernel/unprivileged_userns_clone, kernel/apparmor_restrict_unprivileged_userns), or whether a container forbids it"
	return &NoContainerError{"bubblewrap does not work here: " + cmp.Or(why, "it says nothing"), do}
}

// TryOut has bubblewrap make name spaces, without a desktop; args are further arguments.
func (b *Bubble) TryOut(ctx context.Context, args ...string) error {
	all := []string{"--die-with-parent", "--unshare-ipc", "--bind", "/", "/", "--dev", "/dev"}
	if os.Getuid() != 0 {
		all = append(all, "--unshare-user")
	}
	out, err := exec.CommandContext(ctx, b.bwrap, slices.Concat(all, args, []string{"--", "/bin/true"})...).CombinedOutput()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		return NoContainer(cmp.Or(strings.TrimSpace(string(out)), err.Error()))
	}
	return nil
}

// A Container is name spaces that a process holds. They end when it does, but for programs
// that are in them still.
type Container struct {
	PID int // of that process

	before []string // enters the memory, where a normal user cannot in one go
	way    []string // enters files and memory
	inner  []string // makes a normal user that user again
}

// Hold has bubblewrap make a container, and returns when it is complete. args are its
// arguments but for those that make name spaces of users and of shared memory: the container
// has the memory that the X server has, if that has its own. The error is a
// [*NoContainerError] where the machine does not let it.
func (b *Bubble) Hold(ctx context.Context, d *Desktop, args []string) (*Container, error) {
	join := d.joinMemory()
	if len(join) == 0 {
		args = append([]string{"--unshare-ipc"}, args...)
	}
	var users []string
	var all errgroup.Group
	if os.Getuid() != 0 {
		args = append([]string{"--unshare-user"}, args...)
	} else {
		all.Go(func() (err error) {
			users, err = d.startUsers()
			return err
		})
	}
	pid, err := b.hold(ctx, d, slices.Concat(join, []string{b.bwrap}, args))
	if err := cmp.Or(err, all.Wait()); err != nil {
		return nil, err
	}
	p := &Container{PID: pid, way: []string{b.nsenter, "--target", strconv.Itoa(pid), "--mount"}}
	if os.Getuid() == 0 {
		p.way = slices.Concat(p.way, []string{"--ipc"}, users)
		return p, nil
	}
	outer, err := b.keep(ctx, d, pid)
	if err != nil {
		return nil, err
	}
	if p.before = join; len(join) == 0 {
		p.way = append(p.way, "--ipc")
	}
	p.way = append(p.way, "--user="+outer, "--preserve-credentials")
	self := strconv.Itoa(pid)
	if slices.Contains(args, "--unshare-pid") {
		self = "1" // by the numbers that it gives
	}
	p.inner = []string{b.nsenter, "--target", self, "--user", "--preserve-credentials", "--"}
	return p, nil
}

// Prefix returns what is put before the command line of a program for it to run in the
// container, as a user if that is not 0; more are further name spaces that it enters, as
// arguments of nsenter, such as "--pid".
func (p *Container) Prefix(user int, more ...string) []string {
	if user != 0 {
		number := strconv.Itoa(user)
		more = append(slices.Clone(more), "--setuid", number, "--setgid", number)
	}
	return slices.Concat(p.before, p.way, more, []string{"--"}, p.inner)
}

// ownMemory reports whether the X server is to have shared memory of its own, which the
// programs join: not where they are to have the machine's, or nothing makes them join.
func (d *Desktop) ownMemory() bool {
	if guest := d.options.Guest; d.shares != nil || guest != nil && !guest.OwnMemory {
		return false
	}
	d.bubble, d.shares = FindBubble()
	return d.shares == nil
}

// joinMemory returns what is put before a command line for the program to have the shared
// memory of the desktop; nil if that is the machine's, or nobody's.
func (d *Desktop) joinMemory() []string {
	if d.memory == 0 {
		return nil
	}
	spaces := filepath.Join("/proc", strconv.Itoa(d.memory), "ns")
	join := []string{d.bubble.nsenter, "--ipc=" + spaces + "/ipc"}
	if os.Getuid() != 0 {
		join = append(join, "--user="+spaces+"/user", "--preserve-credentials")
	}
	return append(join, "--")
}

// hold starts bubblewrap and returns the number of the process that holds the name
// spaces, once they are complete.
func (b *Bubble) hold(ctx context.Context, d *Desktop, args []string) (int, error) {
	info, infoWrite, err := os.Pipe()
	if err != nil {
		return 0, err
	}
	defer info.Close()
	defer infoWrite.Close()
	ready, readyWrite, err := os.Pipe()
	if err != nil {
		return 0, err
	}
	defer ready.Close()
	defer readyWrite.Close()
	args = append(slices.Clone(args), "--info-fd", "3", "--", "/bin/sh", "-c", "echo ready && exec sleep infinity")
	holder, err := d.Launch(Command{Args: args, Outside: true, Dir: "/", Files: []*os.File{infoWrite}, Stdout: readyWrite})
	if err != nil {
		return 0, err
	}
	infoWrite.Close()
	readyWrite.Close()
	stop := context.AfterFunc(ctx, func() { info.Close(); ready.Close() })
	defer stop()
	var child struct {
		PID int `json:"child-pid"`
	}
	err = json.NewDecoder(io.LimitReader(info, 1<<16)).Decode(&child)
	if err == nil {
		_, err = bufio.NewReader(ready).ReadString('\n')
	}
	if ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}
	if err != nil || child.PID <= 0 {
		<-holder.Done() // its pipes are closed
		return 0, NoContainer(holder.Output())
	}
	return child.PID, nil
}

// keep keeps the user namespace that owns the other namespaces of a plain user's
// container. Bubblewrap makes a second one in it, in which the user has the user's own
// number again; programs enter the first, then the others, then the second. It
// returns the path of the first.
func (b *Bubble) keep(ctx context.Context, d *Desktop, pid int) (string, error) {
	second, err := os.Open(filepath.Join("/proc", strconv.Itoa(pid), "ns/user"))
	if err != nil {
		return "", err
	}
	defer second.Close()
	number, err := unix.IoctlRetInt(int(second.Fd()), unix.NS_GET_PARENT)
	if err != nil {
		return "", NoContainer("its user namespace: " + err.Error())
	}
	first := os.NewFile(uintptr(number), "user namespace")
	defer first.Close()
	ready, readyWrite, err := os.Pipe()
	if err != nil {
		return "", err
	}
	defer ready.Close()
	defer readyWrite.Close()
	keeper, err := d.Launch(Command{
		Args:    []string{b.nsenter, "--user=/proc/self/fd/3", "--preserve-credentials", "--", "/bin/sh", "-c", "echo ready && exec sleep infinity"},
		Outside: true, Dir: "/", Files: []*os.File{first}, Stdout: readyWrite,
	})
	if err != nil {
		return "", err
	}
	readyWrite.Close()
	stop := context.AfterFunc(ctx, func() { ready.Close() })
	defer stop()
	if _, err := bufio.NewReader(ready).ReadString('\n'); err != nil {
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		<-keeper.Done() // its pipe is closed
		return "", NoContainer(keeper.Output())
	}
	return filepath.Join("/proc", strconv.Itoa(keeper.PID()), "ns/user"), nil
}

// Probe says whether programs of a private desktop of this user have devices and shared
// memory of their own here. The error is a [*NoContainerError] where they have the machine's.
func Probe(ctx context.Context) error {
	b, err := FindBubble()
	if err != nil {
		return err
	}
	return b.TryOut(ctx)
}

// errAsked is why programs have devices of the machine where [Options.MachineDevices] is set.
var errAsked = errors.New("that was asked for")

// Confined returns nil if the programs of the desktop have devices and shared memory of
// their own, beside files, processes and network of the machine, and else why they have
// the machine's. Where there is a [Guest] that decides.
func (d *Desktop) Confined() error { return d.shares }

// confine makes the container of the programs of a desktop without a guest: all is the
// machine's but for devices and shared memory.
func (d *Desktop) confine(ctx context.Context) error {
	args := []string{"--bind", "/", "/", "--dev", "/dev", "--perms", "1777", "--tmpfs", "/dev/shm", "--remount-ro", "/dev", "--chdir", "/"}
	if d.options.KeepFor <= 0 {
		args = append(args, "--die-with-parent")
	}
	container, err := d.bubble.Hold(ctx, d, args)
	if err != nil {
		return err
	}
	prefix := container.Prefix(0)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.entered = Entrance{Prefix: prefix, Files: prefix}
	return nil
}

// startUsers starts the process that holds a name space of users for the guest's, if that
// is another user than this program's, and returns how nsenter enters it. The same users
// are in it, but its keyrings in the kernel are not those of other guests, who have the
// same user. Where the machine makes none, guests share them.
func (d *Desktop) startUsers() ([]string, error) {
	if d.guestUser() == 0 {
		return nil, nil
	}
	holder, err := d.part(command{name: "users (sleep)", path: "/bin/sleep", args: []string{"infinity"}, dir: "/", spaces: syscall.CLONE_NEWUSER})
	switch {
	case err == nil:
		return []string{"--user=" + filepath.Join("/proc", strconv.Itoa(holder.pid), "ns/user")}, nil
	case refusedSpaces(err):
		d.options.Log.Warn("programs share keyrings of the kernel with those of other guests", "why", err)
		return nil, nil
	}
	return nil, err
}

// sameIDs returns what maps users, or groups, of this program's name space to themselves;
// file is uid_map or gid_map.
func sameIDs(file string) (same []syscall.SysProcIDMap) {
	text, err := os.ReadFile(filepath.Join("/proc/self", file))
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(text)) {
		var inside, outside, size int
		if _, err := fmt.Sscan(line, &inside, &outside, &size); err == nil {
			same = append(same, syscall.SysProcIDMap{ContainerID: inside, HostID: inside, Size: size})
		}
	}
	return same
}

// refusedSpaces reports whether the kernel refused a process of which name spaces were
// wanted.
func refusedSpaces(err error) bool {
	return slices.ContainsFunc([]syscall.Errno{syscall.EPERM, syscall.EACCES, syscall.EINVAL, syscall.ENOSPC, syscall.EUSERS, syscall.ENOSYS},
		func(no syscall.Errno) bool { return errors.Is(err, no) })
}

// ownSpaces has a process have name spaces of its own: as a normal user in one of users in
// which that one is the only user, and else, where that is wanted, in one of the same users.
func ownSpaces(attr *syscall.SysProcAttr, spaces uintptr) {
	attr.Cloneflags |= spaces
	if user, group := os.Getuid(), os.Getgid(); user != 0 {
		attr.Cloneflags |= syscall.CLONE_NEWUSER
		attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: user, HostID: user, Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: group, HostID: group, Size: 1}}
	} else if spaces&syscall.CLONE_NEWUSER != 0 {
		attr.UidMappings, attr.GidMappings = sameIDs("uid_map"), sameIDs("gid_map")
		attr.GidMappingsEnableSetgroups = true // nsenter leaves this program's
	}
}
