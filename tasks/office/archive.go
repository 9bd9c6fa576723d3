package office

import (
	"archive/zip"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"path"
	"slices"
	"strings"
)

// Limits on what is read of an archive.
const (
	maxFile    = 512 << 20 // bytes of the archive
	maxList    = 8 << 20   // bytes of the list of its entries
	maxEntries = 20_000
	maxXML     = 32 << 20  // bytes of a part in XML
	totalXML   = 128 << 20 // bytes of all of them
	totalOther = 256 << 20 // bytes of all other parts, such as pictures
)

var (
	// ErrNoPart reports a part that an archive does not have.
	ErrNoPart = errors.New("no such part")
	// ErrTooLarge reports what is larger than is read.
	ErrTooLarge = errors.New("it is too large")
)

// An Archive is an open file. It is for one goroutine.
type Archive struct {
	file      io.Closer
	parts     map[string]*zip.File
	parsed    map[string]*Node
	relations map[string]Relations
	nodes     int   // elements and attributes that trees may still have
	child     int   // elements and attributes that a child in Each may have
	xml       int64 // bytes of such parts that may still be unpacked
	other     int64 // bytes of other parts that may still be unpacked
}

// Open opens a file; the caller closes it.
func Open(name string) (*Archive, error) {
	switch info, err := os.Stat(name); {
	case err != nil:
		return nil, missing(err)
	case !info.Mode().IsRegular():
		return nil, errors.New("it is not a regular file")
	case info.Size() > maxFile:
		return nil, fmt.Errorf("%w: a file of more than %d MiB", ErrTooLarge, maxFile>>20)
	}
	r, file, err := OpenZip(name)
	if err != nil {
		return nil, err
	}
	if len(r.File) > maxEntries {
		return nil, errors.Join(fmt.Errorf("%w: %d parts, at most %d are read", ErrTooLarge, len(r.File), maxEntries), file.Close())
	}
	a := &Archive{
		file: file, parts: make(map[string]*zip.File, len(r.File)), parsed: map[string]*Node{}, relations: map[string]Relations{},
		nodes: maxNodes, child: maxNodes, xml: totalXML, other: totalOther,
	}
	for _, f := range r.File {
		a.parts[strings.TrimPrefix(slash(f.Name), "/")] = f
	}
	return a, nil
}

// Close closes the file.
func (a *Archive) Close() error { return a.file.Close() }

// missing is the error of a file that is not there, without its path, which means
// nothing to the reader of a report.
func missing(err error) error {
	if pathErr, ok := errors.AsType[*fs.PathError](err); ok {
		err = pathErr.Err
	}
	return fmt.Errorf("the file is missing or cannot be opened: %w", err)
}

// OpenZip opens any zip file whose list of entries has at most 8 MiB: that list lies
// in memory as a whole, at several times its length. The caller closes the file.
func OpenZip(name string) (*zip.Reader, io.Closer, error) {
	in, err := os.Open(name)
	if err != nil {
		return nil, nil, missing(err)
	}
	info, err := in.Stat()
	if err != nil {
		return nil, nil, errors.Join(err, in.Close())
	}
	r, err := readZip(in, info.Size())
	if err != nil {
		return nil, nil, errors.Join(err, in.Close())
	}
	return r, in, nil
}

// readZip reads the list of the entries of a zip file.
func readZip(in io.ReaderAt, size int64) (*zip.Reader, error) {
	bounded := &boundedReader{ReaderAt: in, left: maxList}
	r, err := zip.NewReader(bounded, size)
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) { // whoever writes files looks at their names
		return nil, err
	}
	bounded.left = math.MaxInt64 // what is read from now on is bounded by others
	return r, nil
}

type boundedReader struct {
	io.ReaderAt
	left int64
}

func (r *boundedReader) ReadAt(p []byte, offset int64) (int, error) {
	if r.left -= int64(len(p)); r.left < 0 {
		return 0, fmt.Errorf("%w: the list of its entries is longer than %d bytes", ErrTooLarge, int64(maxList))
	}
	return r.ReaderAt.ReadAt(p, offset)
}

// Has reports whether there is a part.
func (a *Archive) Has(part string) bool { return a.parts[part] != nil }

// Parts returns the names of the parts in order.
func (a *Archive) Parts() []string { return slices.Sorted(maps.Keys(a.parts)) }

// Read unpacks a part of at most limit bytes, if that is not 0. All parts that are read
// in this way have at most 256 MiB.
func (a *Archive) Read(part string, limit int64) ([]byte, error) {
	return a.read(part, cmp.Or(limit, totalOther), &a.other)
}

// read unpacks a part, and takes its bytes from those that are left.
func (a *Archive) read(part string, limit int64, left *int64) ([]byte, error) {
	f := a.parts[part]
	if f == nil {
		return nil, fmt.Errorf("%.80q: %w", part, ErrNoPart)
	}
	data, err := unpack(f, min(limit, *left))
	if err != nil {
		return nil, fmt.Errorf("%.80q: %w", part, err)
	}
	*left -= int64(len(data))
	return data, nil
}

// unpack returns the content of an entry of at most limit bytes.
func unpack(f *zip.File, limit int64) ([]byte, error) {
	if f.UncompressedSize64 > uint64(limit) { // more than it says is damage
		return nil, fmt.Errorf("%w: more than %d bytes", ErrTooLarge, limit)
	}
	r, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("%w: more than %d bytes", ErrTooLarge, limit)
	}
	if err != nil {
		return nil, err
	}
	return data, nil
}

// A Relation is a reference from one part to another, or to what lies elsewhere.
type Relation struct {
	ID       string
	Kind     string // the end of its type, such as "slideLayout"
	Target   string // a part, or as written if External
	External bool   // it is not in the archive
}

// Relations are those of a part.
type Relations struct {
	List []Relation // in the order of the file
	byID map[string]Relation
}

// ByID returns the relation of an id, and whether there is one.
func (r Relations) ByID(id string) (Relation, bool) {
	found, ok := r.byID[id]
	return found, ok
}

// Parts returns the parts that the relations of a kind lead to, in order.
func (r Relations) Parts(kind string) (list []string) {
	for _, one := range r.List {
		if one.Kind == kind && !one.External {
			list = append(list, one.Target)
		}
	}
	return list
}

// First returns the first part that a relation of a kind leads to, or "".
func (r Relations) First(kind string) string {
	for _, part := range r.Parts(kind) {
		return part
	}
	return ""
}

// Relations returns what a part refers to, "" for the file as a whole. A part without
// any has none.
func (a *Archive) Relations(part string) (Relations, error) {
	if known, ok := a.relations[part]; ok {
		return known, nil
	}
	dir, base := path.Split(part)
	root, err := a.XML(dir + "_rels/" + base + ".rels")
	if err != nil && !errors.Is(err, ErrNoPart) {
		return Relations{}, err
	}
	list := Relations{byID: map[string]Relation{}}
	for n := range root.All("Relationship") {
		kind, target := n.Attr("Type"), n.Attr("Target")
		r := Relation{
			ID: n.Attr("Id"), Kind: kind[strings.LastIndexByte(kind, '/')+1:], Target: target,
			External: n.Attr("TargetMode") == "External" || strings.HasPrefix(target, "file://"),
		}
		if !r.External {
			r.Target = resolve(dir, target)
		}
		list.byID[r.ID] = r
		list.List = append(list.List, r)
	}
	a.relations[part] = list
	return list, nil
}

// resolve returns the part that a reference from a folder means. It cannot leave the
// archive: it is only ever looked up in it.
func resolve(dir, target string) string {
	target = slash(target)
	if !strings.HasPrefix(target, "/") {
		target = "/" + dir + target
	}
	return strings.TrimPrefix(path.Clean(target), "/")
}

// slash writes a path as the format has it, whatever program wrote it.
func slash(name string) string { return strings.ReplaceAll(name, `\`, "/") }
