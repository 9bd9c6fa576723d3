//go:build !unix

package replay

import "os"

// holds says that a lock is held by the open file.
const holds = false

// lock does nothing where files are not locked this way.
func lock(*os.File) error { return nil }

func unlock(*os.File) error { return nil }

// locked reports whether a journal has a writer, which nothing tells here.
func locked(*os.File) bool { return false }

func inodeOf(os.FileInfo) string { return "?" }
