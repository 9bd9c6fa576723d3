//go:build !unix

package bench

import "os"

// lock does nothing where files are not locked this way.
func lock(*os.File) error { return nil }

func unlock(*os.File) error { return nil }

// syncDir does nothing where folders cannot be synced.
func syncDir(string) error { return nil }
