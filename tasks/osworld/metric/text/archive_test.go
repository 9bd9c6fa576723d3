package text_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/tasks"
	"desktop-agent/tasks/osworld/metric/text"
)

// tarred returns a tar file, packed by gzip, with the files name, content, …; a name
// that ends in "@" is a link to its content.
func tarred(pairs ...string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for i := 0; i < len(pairs); i += 2 {
		header := &tar.Header{Name: pairs[i], Mode: 0o644, Size: int64(len(pairs[i+1])), Typeflag: tar.TypeReg}
		name, isLink := strings.CutSuffix(pairs[i], "@")
		if isLink {
			header = &tar.Header{Name: name, Linkname: pairs[i+1], Typeflag: tar.TypeSymlink}
		}
		err := w.WriteHeader(header)
		if err == nil && !isLink {
			_, err = w.Write([]byte(pairs[i+1]))
		}
		if err != nil {
			panic(err)
		}
	}
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		panic(err)
	}
	return b.String()
}

func TestArchives(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir()) // of its own: what others unpack meanwhile is not left by this test
	gold := named{"gold.zip", zipped("a.txt", "x\n", "b.txt", "y")}
	check(t, "compare_archive", []row{
		{named{"r.zip", zipped("b.txt", "y", "a.txt", "x\n")}, gold, nil, 1, 1, ""},
		{named{"r.tar.gz", tarred("./a.txt", "x\n", "b.txt", "y")}, gold, nil, 1, 1, ""},
		{named{"r.zip", zipped("a.txt", "x\n", "b.txt", "z")}, gold, nil, 0.5, 0.5, "b.txt"},
		{named{"r.zip", zipped("a.txt", " x", "b.txt", "y")}, gold, tasks.Params{"file_type": "text", "ignore_blanks": true}, 1, 1, ""},
		{named{"r.zip", zipped("a.txt", "x\n")}, gold, nil, 0, 0, "missing"},
		{named{"r.zip", zipped("a.txt", "x\n", "b.txt", "y", "c.txt", "")}, gold, nil, 0, 0, "must not be there"},
		{named{"r.zip", zipped("d/a.txt", "x\n", "e", "")}, named{"g.zip", zipped("d/a.txt", "x\n")}, tasks.Params{"file_path": "d"}, 1, 1, ""},
		{named{"r.zip", zipped("a.csv", "x\r\n")}, named{"g.zip", zipped("a.csv", "x\n")}, tasks.Params{"file_type": "csv"}, 1, 1, ""},
		{named{"r.tar.gz", zipped("a.txt", "x\n", "b.txt", "y")}, gold, nil, 0, 0, "cannot be unpacked"},
		{named{"r.rar", "x"}, gold, nil, 0, 0, "no known kind"},
		{named{"r.zip", "PK"}, gold, nil, 0, 0, "cannot be unpacked"},
		{named{"r.zip", zipped("a.txt", "x\n", "b.txt", "y")[:60]}, gold, nil, 0, 0, "cannot be unpacked"},
		{named{"r.zip", zipped("../a.txt", "x")}, gold, nil, 0, 0, "leads out"},
		{named{"r.zip", zipped("/etc/a.txt", "x")}, gold, nil, 0, 0, "leads out"},
		{named{"r.zip", zipped("a", "x", "a/b", "y")}, gold, nil, 0, 0, "cannot be unpacked"},
		{named{"r.zip", zipped(strings.Repeat("a/", 100)+"b", "x")}, gold, nil, 0, 0, "nested too deep"},
		{named{"r.tar.gz", tarred("a.txt@", "/etc/passwd", "b.txt", "y")}, gold, nil, 0, 0, "missing"},
		{named{"r.tar.gz", tarred("d@", "/tmp", "d/a.txt", "y")}, gold, nil, 0, 0, "missing"},
		{nil, gold, nil, 0, 0, "no file"},
		{gold, nil, nil, fail, fail, "no file"},
		{gold, named{"g.zip", "x"}, nil, fail, fail, "expected"},
		{gold, named{"g.zip", zipped()}, nil, fail, fail, "no files"},
		{gold, gold, tasks.Params{"file_type": "pdf"}, fail, fail, "compare_pdfs"},
		{gold, gold, tasks.Params{"file_type": "exe"}, fail, fail, "unknown"},
	})
	check(t, "compare_zip_files", []row{
		{named{"r.bin", zipped("b.txt", "y", "a.txt", "x\n", "d/", "")}, named{"g.bin", zipped("a.txt", "x\n", "b.txt", "y")}, nil, 1, 1, ""},
		{named{"r.zip", zipped("a.txt", "x\n", "b.txt", "z")}, gold, nil, 0, 0, "b.txt differs"},
		{named{"r.zip", zipped("a.txt", "x\n")}, gold, nil, 0, 0, "missing"},
		{named{"r.zip", "x"}, gold, nil, 0, 0, "cannot be unpacked"},
		{gold, named{"g.zip", "x"}, nil, fail, fail, "expected"},
	})
	left, err := filepath.Glob(filepath.Join(os.TempDir(), "archive-*"))
	require.NoError(t, err)
	assert.Empty(t, left, "folders are left")
}

// raw returns a zip file with entries that say that they hold size bytes each, and
// hold none.
func raw(names []string, size uint64) string {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, name := range names {
		if _, err := w.CreateRaw(&zip.FileHeader{Name: name, Method: zip.Deflate, UncompressedSize64: size}); err != nil {
			panic(err)
		}
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	return b.String()
}

func TestBombs(t *testing.T) {
	gold := named{"g.zip", zipped("a", "b")}
	var huge bytes.Buffer
	require.NoError(t, tar.NewWriter(&huge).WriteHeader(&tar.Header{Name: "a", Size: 1 << 40, Typeflag: tar.TypeReg}))
	packed := zipped("a", strings.Repeat("\x00", 1<<20))
	i := strings.LastIndex(packed, "PK\x01\x02") + 24 // the size in the list of entries
	lie := packed[:i] + "\x01\x00\x00\x00" + packed[i+4:]
	names := make([]string, 140) // long ones make a list of 8 MB of the least entries
	for i := range names {
		names[i] = fmt.Sprintf("%060000d", i)
	}
	many := raw(names, 0)
	check(t, "compare_archive", []row{
		{named{"r.zip", raw([]string{"a"}, 300<<20)}, gold, nil, 0, 0, "holds more than"},
		{named{"r.zip", raw([]string{"a"}, 1<<63)}, gold, nil, 0, 0, "holds more than"},
		{named{"r.tar", huge.String()}, gold, nil, 0, 0, "holds more than"},
		{named{"r.zip", lie}, gold, nil, 0, 0, "cannot be unpacked"},
		{named{"r.zip", many}, gold, nil, 0, 0, "list of its entries"},
	})
	check(t, "compare_epub", []row{{named{"r.epub", many}, named{"g.epub", zipped("a.html", "b", "toc.ncx", "", "content.opf", "")}, nil, 0, 0, "list of its entries"}})
}

func TestLookup(t *testing.T) {
	likeness := 0.96
	var seen []string
	metrics := text.Metrics(text.Options{Lookup: func(name string) (tasks.Metric, bool) {
		return func(_ context.Context, result, expected tasks.Value, options tasks.Params) (tasks.Score, error) {
			got, err := os.ReadFile(result.(tasks.File).Path)
			require.NoError(t, err)
			want, err := os.ReadFile(expected.(tasks.File).Path)
			require.NoError(t, err)
			seen = append(seen, name+" "+string(got)+" "+string(want))
			assert.NotContains(t, options, "file_type")
			return tasks.Score{Value: likeness, Why: "because"}, nil
		}, name == "compare_pdfs"
	}})
	result, expected := value(t, named{"r.zip", zipped("a.pdf", "x")}), value(t, named{"g.zip", zipped("a.pdf", "y")})
	score, err := metrics["compare_archive"](t.Context(), result, expected, tasks.Params{"file_type": "pdf", "other": 1.0})
	require.NoError(t, err)
	assert.Equal(t, tasks.Score{Value: 0.96, Why: "a.pdf: because"}, score)
	assert.Equal(t, []string{"compare_pdfs x y"}, seen)
	score, err = metrics["compare_zip_files"](t.Context(), result, expected, nil)
	require.NoError(t, err)
	assert.Equal(t, tasks.Yes(), score)
	likeness = 0.9
	score, err = metrics["compare_zip_files"](t.Context(), result, expected, nil)
	require.NoError(t, err)
	assert.Equal(t, tasks.No("a.pdf is only 90 % alike: because"), score)
	_, err = metrics["compare_archive"](t.Context(), result, expected, tasks.Params{"file_type": "docx"})
	require.ErrorContains(t, err, "compare_docx_files")
}
