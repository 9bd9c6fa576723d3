package env

import (
	"path"
	"slices"
	"strings"
)

// Kinds of what commands need that no computer of a task has.
const (
	needsSystemd = " needs services of systemd, which tasks do not have"
	needsSound   = " needs a sound server, which tasks do not have"
	needsRoot    = " needs the rights of root, which no task has"
	needsSnap    = " needs snapd, which tasks do not have"
)

// needs says what commands need, by their programs.
var needs = map[string]string{
	"systemctl": needsSystemd, "service": needsSystemd, "journalctl": needsSystemd, "timedatectl": needsSystemd,
	"hostnamectl": needsSystemd, "localectl": needsSystemd, "loginctl": needsSystemd, "nmcli": needsSystemd, "bluetoothctl": needsSystemd,
	"pactl": needsSound, "pacmd": needsSound, "wpctl": needsSound, "amixer": needsSound, "pulseaudio": needsSound,
	"su": needsRoot, "useradd": needsRoot, "adduser": needsRoot, "usermod": needsRoot, "userdel": needsRoot, "deluser": needsRoot,
	"groupadd": needsRoot, "passwd": needsRoot, "chpasswd": needsRoot, "mount": needsRoot, "umount": needsRoot,
	"modprobe": needsRoot, "sysctl": needsRoot, "ufw": needsRoot,
	"snap": needsSnap,
}

// harmless are the options and words of those commands that only ask, which any user
// may.
var harmless = map[string][]string{
	"passwd": {"-S", "--status"}, "mount": {""}, "sysctl": {"-a", "-n"},
}

// Obstacles says why a command cannot do its work in the computer of a task on this
// machine, though its program may be there: packages that it installs, services that
// nothing offers, rights that no user has, and, unless tasks have the network, what it
// fetches; or input that it would send past the hand, and code for pyautogui that cannot be
// translated for a screen of [DefaultSize]. What a script is ready for is none, and what it
// calls is not looked at.
func (c Command) Obstacles(network bool) []string {
	if source, ok := gui(c); ok {
		if _, err := translate(source, DefaultSize); err != nil {
			return []string{err.Error()}
		}
		return nil
	}
	if name := c.sender(); name != "" {
		return []string{senderError(name).Error()}
	}
	var list []string
	for _, s := range c.simples() {
		if s.excused {
			continue
		}
		for _, why := range obstacles(simpleProgram(s.words), network) {
			if !slices.Contains(list, why) {
				list = append(list, why)
			}
		}
	}
	return list
}

// obstacles says what is in the way of a simple command, which begins with its program.
func obstacles(words []string, network bool) []string {
	if len(words) == 0 {
		return nil
	}
	name, rest := path.Base(words[0]), words[1:]
	installs := slices.Contains(rest, "install")
	switch name {
	case "apt", "apt-get", "aptitude":
		if installs {
			return missingPackages(rest)
		}
		return nil
	case "pip", "pip3", "npm", "cargo", "gem":
		if installs && !network {
			return []string{name + " installs from the network, which is off"}
		}
		return nil
	case "wget", "curl", "git":
		remote := func(word string) bool { return strings.Contains(word, "://") && Remote(word) }
		if i := slices.IndexFunc(rest, remote); i >= 0 && !network {
			return []string{name + " fetches " + rest[i] + ", and the network is off"}
		}
		return nil
	}
	why := needs[name]
	asks := slices.ContainsFunc(rest, func(word string) bool { return slices.Contains(harmless[name], word) }) ||
		len(rest) == 0 && slices.Contains(harmless[name], "")
	if why == "" || asks {
		return nil
	}
	return []string{name + why}
}

// missingPackages says which packages of an installation are not there: no task can
// install any. Of those with a program that tasks name [Lacks] tells.
func missingPackages(words []string) []string {
	var list []string
	for _, word := range words {
		if word == "install" || strings.HasPrefix(word, "-") || strings.ContainsAny(word, "./$*") {
			continue
		}
		named := slices.ContainsFunc(programs, func(p program) bool { return p.debian == word })
		if !named && !packaged(word) {
			list = append(list, "the package "+word+" is not installed, and no task can install it: apt-get install "+word)
		}
	}
	return list
}
