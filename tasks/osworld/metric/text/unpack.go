package text

import (
	"archive/tar"
	"bufio"
	"compress/bzip2"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"desktop-agent/tasks/office"
)

// Limits on archives, which keep bombs from filling memory and disk.
const (
	maxArchive  = 512 << 20 // bytes, packed
	maxEntries  = 10000
	maxUnpacked = 256 << 20 // bytes, all together
	maxFolders  = 32        // that lie in one another
)

// archiveKind says how the kind of an archive is known.
type archiveKind int

const (
	byName archiveKind = iota
	anyZip             // a zip file, whatever its name
)

// unpack writes the files of an archive into a folder, and returns their paths with
// slashes, in order. Folders are made as they are needed; links and devices are left
// out. If the kind is byName, the name's end says it, as in Python's shutil.
func (f file) unpack(folder string, kind archiveKind) ([]string, error) {
	if err := f.check(maxArchive); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	u := &unpacker{root: root, left: maxUnpacked}
	if kind == anyZip || strings.HasSuffix(strings.ToLower(f.path), ".zip") {
		err = u.zip(f.path)
	} else {
		err = u.tar(f.path)
	}
	if disk, ok := errors.AsType[diskError](err); ok {
		return nil, disk.error
	}
	if err != nil {
		return nil, f.fault(fmt.Errorf("cannot be unpacked: %w", unwrapPath(err)))
	}
	slices.Sort(u.names)
	return slices.Compact(u.names), nil
}

var errTooLarge = fmt.Errorf("it holds more than %d bytes", int64(maxUnpacked))

// A diskError is one of this machine's disk, which says nothing about the archive.
type diskError struct{ error }

type unpacker struct {
	root    *os.Root
	names   []string
	entries int
	left    int64 // bytes that may still be written
}

func (u *unpacker) zip(name string) error {
	archive, in, err := office.OpenZip(name)
	if err != nil {
		return err
	}
	defer in.Close()
	declared := uint64(0)
	for _, entry := range archive.File {
		if !entry.Mode().IsRegular() {
			continue
		}
		if declared += min(entry.UncompressedSize64, maxUnpacked+1); declared > maxUnpacked {
			return errTooLarge
		}
		in, err := entry.Open()
		if err != nil {
			return err
		}
		err = errors.Join(u.write(entry.Name, in), in.Close())
		if err != nil {
			return err
		}
	}
	return nil
}

func (u *unpacker) tar(name string) error {
	in, err := os.Open(name)
	if err != nil {
		return err
	}
	defer in.Close()
	plain, err := decompress(bufio.NewReader(in), strings.ToLower(name))
	if err != nil {
		return err
	}
	// Headers and skipped entries cost time, too.
	archive := tar.NewReader(io.LimitReader(plain, 2*maxUnpacked))
	for {
		header, err := archive.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if u.entries++; u.entries > 10*maxEntries {
			return fmt.Errorf("it has more than %d entries", 10*maxEntries)
		}
		if header.Size > u.left {
			return errTooLarge
		}
		if header.Typeflag == tar.TypeReg {
			if err := u.write(header.Name, archive); err != nil {
				return err
			}
		}
	}
}

func decompress(in *bufio.Reader, name string) (io.Reader, error) {
	ends := func(list ...string) bool {
		return slices.ContainsFunc(list, func(end string) bool { return strings.HasSuffix(name, end) })
	}
	switch {
	case ends(".tar"):
		return in, nil
	case ends(".tar.gz", ".tgz"):
		return gzip.NewReader(in)
	case ends(".tar.bz2", ".tbz2"):
		return bzip2.NewReader(in), nil
	}
	return nil, fmt.Errorf("%q is no known kind: use .zip, .tar, .tar.gz or .tar.bz2", filepath.Base(name))
}

func (u *unpacker) write(name string, in io.Reader) error {
	clean := path.Clean(strings.ReplaceAll(name, `\`, "/"))
	if !filepath.IsLocal(filepath.FromSlash(clean)) {
		return fmt.Errorf("%.60q leads out of it", name)
	}
	if strings.Count(clean, "/") > maxFolders {
		return fmt.Errorf("%.60q is nested too deep", name)
	}
	if len(u.names) >= maxEntries {
		return fmt.Errorf("it has more than %d files", maxEntries)
	}
	local := filepath.FromSlash(clean)
	if err := u.root.MkdirAll(filepath.Dir(local), 0o700); err != nil {
		return fmt.Errorf("%.60q: %w", name, unwrapPath(err))
	}
	out, err := u.root.OpenFile(local, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("%.60q: %w", name, unwrapPath(err))
	}
	// A write error is the disk's and a read error the archive's: io.Copy would not
	// tell them apart.
	disk := &diskWriter{out: out}
	n, err := io.Copy(disk, io.LimitReader(in, u.left+1))
	if closing := out.Close(); disk.err == nil {
		disk.err = closing
	}
	u.left -= n
	switch {
	case disk.err != nil:
		return diskError{fmt.Errorf("unpack: %w", disk.err)}
	case err != nil:
		return fmt.Errorf("%.60q: %w", name, err)
	case u.left < 0:
		return errTooLarge
	}
	u.names = append(u.names, clean)
	return nil
}

type diskWriter struct {
	out io.Writer
	err error
}

func (w *diskWriter) Write(p []byte) (n int, err error) {
	n, err = w.out.Write(p)
	w.err = err
	return n, err
}
