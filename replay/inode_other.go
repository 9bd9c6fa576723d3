//go:build !unix

package replay

import "os"

func inodeOf(os.FileInfo) string { return "?" }
