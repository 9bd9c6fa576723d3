# Waits for the end of the program that started the desktop, then removes what
# it left. Its standard input is a pipe that only that program can write to: the
# read ends when the program does, however it dies.
# $1: the folder of the desktop; $2: the mark in the environment of its processes;
# $3: how many seconds the desktop waits for another program that takes it over, which
# then kills this one.
trap '' HUP INT TERM
groups=
while read -r word number; do
	case $word in
	group) groups="$groups $number" ;; # a process group of the desktop
	gone) # its leader has ended: the number may become another's
		rest=
		for group in $groups; do
			[ "$group" = "$number" ] || rest="$rest $group"
		done
		groups=$rest
		;;
	clean) exit 0 ;; # the program has cleaned up itself
	esac
done

if [ "$3" != 0.000 ]; then
	sleep "$3"
	groups= # nobody told which ended meanwhile
fi
rm -f -- "$1/watchdog" # from here on it is gone
sleep 0.1 # for the X server, which was asked to end and cleans up after itself
for group in $groups; do
	kill -KILL "-$group" 2>/dev/null
done
tries=0 empty=0
while [ $tries -lt 100 ] && [ $empty -lt 2 ]; do
	# A process has no environment for an instant while it executes another
	# program, so nobody counts as gone before nobody was found twice.
	empty=$((empty + 1)) tries=$((tries + 1))
	for file in $(grep -lsxzF -e "$2" /proc/[0-9]*/environ); do
		pid=${file#/proc/} pid=${pid%/environ}
		kill -KILL "-$pid" 2>/dev/null # the group that it leads: some in it may have put off the mark
		kill -KILL "$pid" 2>/dev/null && empty=0
	done
	sleep 0.02
done

# An X server that was killed leaves its socket; it may belong to another by now. One that
# was killed while it started has no id yet: nobody has its socket open.
socket= id=
while read -r s i; do
	socket=$s id=$i
done 2>/dev/null <"$1/xserver"
if [ -n "$socket" ]; then
	if [ -n "$id" ]; then
		[ "$(stat -c '%i %Z' "$socket" 2>/dev/null)" = "$id" ]
	else
		! grep -q " $socket\$" /proc/net/unix
	fi && rm -f -- "$socket"
fi
# Control groups that the guest was held in go when nobody is in them. Who was killed may
# take long to be gone on a busy machine; 0 is a process that cannot be seen from here.
if [ -f "$1/groups" ]; then
	while read -r group; do
		tries=0
		while [ $tries -lt 500 ] && ! rmdir -- "$group" 2>/dev/null && [ -d "$group" ]; do
			if [ -f "$group/cgroup.procs" ]; then
				while read -r pid; do
					[ "$pid" = 0 ] || kill -KILL "$pid" 2>/dev/null
				done <"$group/cgroup.procs"
			fi
			tries=$((tries + 1))
			sleep 0.02
		done
	done <"$1/groups"
fi
# Several at once, which share the files: on a disk that discards what is freed, each one
# is waited for. Somebody may have written to the folder meanwhile.
tries=0
while [ $tries -lt 500 ]; do
	for _ in 1 2 3 4; do
		rm -rf -- "$1" 2>/dev/null &
	done
	wait
	[ -d "$1" ] || break
	# Programs may have closed a folder to its owner. Folders alone: a file may have another
	# name elsewhere. Links are not followed. To root none is closed; and one that became a
	# link meanwhile would lead root anywhere.
	[ "$(id -u)" = 0 ] || find "$1" -type d ! -perm -700 -execdir chmod 700 {} \; 2>/dev/null
	tries=$((tries + 1))
	sleep 0.02
done
