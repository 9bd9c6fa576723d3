package sandbox

import (
	"bytes"
	"crypto/rand"
	"embed"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"text/template"

	"desktop-agent/internal/x11"
)

//go:embed files
var files embed.FS

// tools are the programs that make a desktop.
type tools struct {
	server, manager, bus, accessibility string
}

// dejavu is the folder of the font that every program uses.
const dejavu = "/usr/share/fonts/truetype/dejavu"

// findTools finds every program, or says all that are missing at once.
func findTools() (tools, error) {
	var t tools
	missing := &MissingError{}
	lack := func(program, pkg string) {
		missing.Programs = append(missing.Programs, program)
		missing.Packages = append(missing.Packages, pkg)
	}
	for _, need := range []struct {
		path              *string
		program, package_ string
	}{
		{&t.server, "Xvfb", "xvfb"},
		{&t.manager, "openbox", "openbox"},
		{&t.bus, "dbus-daemon", "dbus"},
	} {
		path, err := exec.LookPath(need.program)
		if err != nil {
			lack(need.program, need.package_)
		}
		*need.path = path
	}
	if t.accessibility = accessibilityLauncher(); t.accessibility == "" {
		lack("at-spi-bus-launcher", "at-spi2-core")
	}
	if _, err := os.Stat(filepath.Join(dejavu, "DejaVuSans.ttf")); err != nil {
		lack("DejaVu Sans (font)", "fonts-dejavu-core")
	}
	if len(missing.Programs) > 0 {
		return tools{}, missing
	}
	return t, nil
}

// accessibilityLauncher returns the path of the accessibility bus's launcher,
// which is in no PATH but in the file that lets D-Bus start it; "" if not installed.
func accessibilityLauncher() string {
	service, err := os.ReadFile("/usr/share/dbus-1/services/org.a11y.Bus.service")
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(service)) {
		if command, ok := strings.CutPrefix(strings.TrimSpace(line), "Exec="); ok {
			fields := strings.Fields(command)
			if len(fields) > 0 && isFile(fields[0]) {
				return fields[0]
			}
		}
	}
	return ""
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// markName is the name of the environment variable that every process carries.
const markName = "DESKTOP_AGENT_SANDBOX"

// makeFolder makes the folder with all files of the desktop, and the
// environment that goes with it:
//
//	home      HOME, unless another is given
//	user      HOME, if it begins with the content of a given folder
//	run       XDG_RUNTIME_DIR: the sockets
//	tmp       TMPDIR
//	etc       configuration, which programs read beside that in HOME
//	manager   HOME of the window manager
//	xserver   the socket of the X server, for the watchdog
//	orders    what the window manager is asked to start, where there are launchers
//	groups    the control groups of the guest, for the watchdog
func (d *Desktop) makeFolder() error {
	base := os.TempDir()
	if len(base) > 40 { // a socket's path has at most 107 bytes
		base = "/tmp"
	}
	folder, err := os.MkdirTemp(base, "desktop-agent-")
	if err != nil {
		return fmt.Errorf("make its folder: %w", err)
	}
	d.folder = folder
	d.mark = markName + "=" + newID(folder)
	for _, name := range []string{"home/Desktop", "home/Documents", "home/Downloads", "home/.config", "run", "tmp", "manager", "etc/services", "etc/gtk-3.0", "etc/gtk-4.0"} {
		if err := os.MkdirAll(filepath.Join(folder, name), 0o700); err != nil {
			return fmt.Errorf("make its folder: %w", err)
		}
	}
	if from := d.options.HomeFrom; from != "" {
		d.options.Home = filepath.Join(folder, "user")
		if err := os.CopyFS(d.options.Home, os.DirFS(from)); err != nil {
			return fmt.Errorf("home: copy %s: %w", from, err)
		}
		if err := os.Chmod(d.options.Home, 0o700); err != nil {
			return fmt.Errorf("home: %w", err)
		}
	}
	if home := d.options.Home; home != "" {
		if home, err = filepath.Abs(home); err != nil {
			return fmt.Errorf("home: %w", err)
		}
		d.options.Home = home
		if info, err := os.Stat(home); err != nil {
			return fmt.Errorf("home: %w", err)
		} else if !info.IsDir() {
			return fmt.Errorf("home %s: not a folder", home)
		}
	}
	if err := d.writeFiles(); err != nil {
		return fmt.Errorf("write its files: %w", err)
	}
	d.base = d.environment()
	return d.giveAway()
}

// hidden are D-Bus services that would start helpers which keep state outside
// HOME, mount file systems or ask the machine's own desktop. Programs do
// without them when D-Bus says that they cannot be started.
var hidden = []string{
	"ca.desrt.dconf",
	"org.freedesktop.portal.Desktop",
	"org.freedesktop.portal.Documents",
	"org.freedesktop.impl.portal.PermissionStore",
	"org.freedesktop.systemd1",
	"org.gtk.vfs.Daemon",
	"org.gnome.keyring",
	"org.freedesktop.secrets",
}

// writeFiles writes the configuration of every part.
func (d *Desktop) writeFiles() error {
	etc := filepath.Join(d.folder, "etc")
	services := filepath.Join(etc, "services")
	var errs []error
	write := func(name string, content []byte) {
		errs = append(errs, os.WriteFile(filepath.Join(etc, name), content, 0o600))
	}
	bus, err := fill("bus.conf", map[string]any{"Socket": d.busSocket(), "Services": services, "Guest": d.guestUser() != 0})
	errs = append(errs, err)
	write("bus.conf", bus)
	for _, name := range hidden {
		write("services/"+name+".service", []byte("[D-BUS Service]\nName="+name+"\nExec=/bin/false\n"))
	}
	for to, from := range map[string]string{
		"fonts.conf":           "fonts.conf",
		"gtk-3.0/settings.ini": "gtk.ini", "gtk-4.0/settings.ini": "gtk.ini",
	} {
		content, err := fs.ReadFile(files, "files/"+from)
		errs = append(errs, err)
		write(to, content)
	}
	desktop := map[string]any{"Launchers": d.options.Launchers, "Menu": ""}
	if len(d.options.Launchers) > 0 {
		desktop["Menu"] = filepath.Join(etc, "menu.xml")
		menu, err := fill("menu.xml", desktop)
		errs = append(errs, err)
		write("menu.xml", menu)
	}
	manager, err := fill("openbox.xml", desktop)
	errs = append(errs, err)
	write("openbox.xml", manager)
	if d.options.Home == "" { // a given one is the user's own
		write("../home/.config/user-dirs.dirs", []byte(userDirs))
	}
	write("xauthority", newCookie())
	return errors.Join(errs...)
}

// userDirs tells programs which folders of HOME are for what.
const userDirs = `XDG_DESKTOP_DIR="$HOME/Desktop"
XDG_DOCUMENTS_DIR="$HOME/Documents"
XDG_DOWNLOAD_DIR="$HOME/Downloads"
`

// fill renders an embedded template.
func fill(name string, data any) ([]byte, error) {
	t, err := template.New(name).Funcs(template.FuncMap{"order": order}).ParseFS(files, "files/"+name)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = t.Execute(&b, data)
	return b.Bytes(), err
}

func (d *Desktop) busSocket() string  { return filepath.Join(d.folder, "run", "bus") }
func (d *Desktop) cookieFile() string { return filepath.Join(d.folder, "etc", "xauthority") }

// newCookie returns an X authority file with one new secret, for any display.
// The format is that of Xau(3): family, address, display, name, data.
func newCookie() []byte {
	const familyWild = 65535
	cookie := make([]byte, x11.CookieSize)
	_, _ = rand.Read(cookie) // never fails
	b := binary.BigEndian.AppendUint16(nil, familyWild)
	for _, field := range []string{"", "", x11.CookieName, string(cookie)} {
		b = binary.BigEndian.AppendUint16(b, uint16(len(field)))
		b = append(b, field...)
	}
	return b
}

// environment returns what every program gets, but for DISPLAY and the mark.
func (d *Desktop) environment() []string {
	home := d.Home()
	etc, run := filepath.Join(d.folder, "etc"), filepath.Join(d.folder, "run")
	d.bus = "unix:path=" + d.busSocket()
	name := "user"
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	shell := "/bin/bash"
	if !isFile(shell) {
		shell = "/bin/sh"
	}
	scale := d.options.scale()
	return []string{
		"PATH=" + os.Getenv("PATH"),
		"HOME=" + home, "USER=" + name, "LOGNAME=" + name, "SHELL=" + shell,
		"LANG=C.UTF-8", "TZ=UTC",
		"TMPDIR=" + filepath.Join(d.folder, "tmp"),
		"XAUTHORITY=" + d.cookieFile(),
		"DBUS_SESSION_BUS_ADDRESS=" + d.bus,
		"XDG_RUNTIME_DIR=" + run,
		"XDG_CONFIG_HOME=" + filepath.Join(home, ".config"),
		"XDG_CACHE_HOME=" + filepath.Join(home, ".cache"),
		"XDG_DATA_HOME=" + filepath.Join(home, ".local", "share"),
		"XDG_STATE_HOME=" + filepath.Join(home, ".local", "state"),
		"XDG_CONFIG_DIRS=" + etc + ":/etc/xdg",
		"XDG_DATA_DIRS=/usr/local/share:/usr/share",
		"XDG_SESSION_TYPE=x11", "XDG_CURRENT_DESKTOP=Openbox",
		"XCURSOR_THEME=Adwaita", "XCURSOR_SIZE=" + strconv.Itoa(24*scale),
		"FONTCONFIG_FILE=" + filepath.Join(etc, "fonts.conf"),
		// GTK: settings in files below HOME, no helpers for files and volumes.
		"GDK_BACKEND=x11", "GTK_MODULES=gail:atk-bridge", "GSETTINGS_BACKEND=keyfile",
		"GIO_USE_VFS=local", "GIO_USE_VOLUME_MONITOR=unix", "GTK_USE_PORTAL=0",
		"GDK_SCALE=" + strconv.Itoa(scale), "GDK_DPI_SCALE=" + strconv.FormatFloat(1/float64(scale), 'g', 6, 64),
		"QT_QPA_PLATFORM=xcb", "QT_ACCESSIBILITY=1", "QT_LINUX_ACCESSIBILITY_ALWAYS_ON=1",
		"SAL_USE_VCLPLUGIN=gtk3",
		"LIBGL_ALWAYS_SOFTWARE=1",
	}
}
