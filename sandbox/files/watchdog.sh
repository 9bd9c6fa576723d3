# Waits for the end of the program that started the desktop, then removes what
# it left. Its standard input is a pipe that only that program can write to: the
# read ends when the program does, however it dies.
# $1: the folder of the desktop; $2: the mark in the environment of its processes.
while read -r _; do :; done

tries=0
while [ $tries -lt 100 ]; do
	found=
	for file in $(grep -lsxzF -e "$2" /proc/[0-9]*/environ); do
		pid=${file#/proc/}
		kill -KILL "${pid%/environ}" 2>/dev/null && found=1
	done
	[ -n "$found" ] || break
	tries=$((tries + 1))
	sleep 0.05
done

# An X server that was killed leaves its lock and its socket.
if read -r display pid 2>/dev/null <"$1/xserver"; then
	read -r owner 2>/dev/null <"/tmp/.X$display-lock"
	if [ "$owner" = "$pid" ]; then
		rm -f -- "/tmp/.X$display-lock" "/tmp/.X11-unix/X$display"
	fi
fi
rm -rf -- "$1"
