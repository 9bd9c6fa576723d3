package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// The names of the files in the folder of a benchmark.
const (
	FileJSON  = "results.json"
	FileJUnit = "junit.xml"
	FileHTML  = "report.html"
)

// Save writes all files into the folder of the results. What is there already is
// replaced, each file at once.
func (r *Report) Save(dir string) error {
	for _, file := range []struct {
		name  string
		write func(io.Writer) error
	}{{FileJSON, r.writeJSON}, {FileJUnit, r.writeJUnit}, {FileHTML, r.writeHTML}} {
		var data bytes.Buffer
		if err := file.write(&data); err != nil {
			return fmt.Errorf("%s: %w", file.name, err)
		}
		if err := replace(filepath.Join(dir, file.name), data.Bytes()); err != nil {
			return err
		}
	}
	return r.saveTree(dir)
}

// replace writes a file beside the old one and puts it in its place, so that no
// reader sees half of it. It is its owner's alone, as the runs are that it tells of.
func replace(name string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(name), ".new-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(data)
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), name)
}

// writeJSON writes results.json.
func (r *Report) writeJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	return e.Encode(r)
}
