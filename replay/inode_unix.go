//go:build unix

package replay

import (
	"fmt"
	"os"
	"syscall"
)

// inodeOf returns the number of a file on its disk, as /proc/locks writes it.
func inodeOf(info os.FileInfo) string {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return fmt.Sprint(s.Ino)
	}
	return "?"
}
