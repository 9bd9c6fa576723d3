package text

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"desktop-agent/tasks"
)

// comparators are the metrics for the files of archives, by the option "file_type".
var comparators = map[string]string{
	"":      "compare_text_file",
	"text":  "compare_text_file",
	"pdf":   "compare_pdfs",
	"docx":  "compare_docx_files",
	"ppt":   "compare_pptx_files",
	"pptx":  "compare_pptx_files",
	"image": "compare_images",
	"csv":   "compare_csv",
	"table": "compare_table",
	"audio": "compare_audios",
	"video": "compare_videos",
}

// Inner returns the metric that a metric compares the files of archives by, "" if
// it compares none.
func Inner(metric string, options tasks.Params) string {
	if metric != "compare_archive" {
		return ""
	}
	kind, err := options.Text("file_type")
	if err != nil {
		return ""
	}
	return comparators[kind]
}

// metric finds the metric for files in archives.
func (j judge) metric(name string) (tasks.Metric, error) {
	switch name {
	case "compare_text_file":
		return judged(j.compareText), nil
	case "compare_csv":
		return judged(j.compareCSV), nil
	}
	if j.Lookup != nil {
		if metric, ok := j.Lookup(name); ok {
			return metric, nil
		}
	}
	return nil, fmt.Errorf("the metric %s, which compares the files of an archive, is not there", name)
}

// compareArchive: the archives hold files of the same names; the score is the mean of
// their comparisons. Options: "file_type", see comparators, "file_path", the folder in
// the archives to look at, and those of the comparison. Folders are gone into, where
// the original fails.
func (j judge) compareArchive(ctx context.Context, result, expected tasks.Value, options tasks.Params) (tasks.Score, error) {
	kind, err := options.Text("file_type")
	if err != nil {
		return tasks.Score{}, err
	}
	name, ok := comparators[kind]
	if !ok {
		return tasks.Score{}, fmt.Errorf("option file_type: %q is unknown: use text, csv, table, docx, pptx, pdf, image, audio or video", kind)
	}
	metric, err := j.metric(name)
	if err != nil {
		return tasks.Score{}, err
	}
	folder, err := options.Text("file_path")
	if err != nil {
		return tasks.Score{}, err
	}
	rest := tasks.Params{}
	for key, v := range options {
		if key != "file_type" && key != "file_path" {
			rest[key] = v
		}
	}
	return j.unpacked(result, expected, byName, func(p pair) (tasks.Score, error) {
		p.got, p.want = below(folder, p.got), below(folder, p.want)
		if len(p.want) == 0 {
			return tasks.Score{}, fmt.Errorf("expected: the archive holds no files in %q", folder)
		}
		if score := sameTexts(p.got, p.want); score.Value == 0 {
			return score, nil
		}
		sum, why := 0.0, ""
		for _, name := range p.want {
			score, err := metric(ctx, p.gotFile(name), p.wantFile(name), rest)
			if err != nil {
				return tasks.Score{}, fmt.Errorf("%s: %w", name, err)
			}
			if sum += score.Value; score.Value < 1 && why == "" {
				why = name + ": " + score.Why
			}
		}
		return tasks.Score{Value: sum / float64(len(p.want)), Why: why}, nil
	})
}

// below keeps the paths in a folder.
func below(folder string, paths []string) []string {
	prefix := strings.Trim(folder, "/") + "/"
	if prefix == "/" {
		return paths
	}
	return slices.DeleteFunc(slices.Clone(paths), func(p string) bool { return !strings.HasPrefix(p, prefix) })
}

// A pair is two unpacked archives: paths of files in them, and where they lie.
type pair struct {
	got, want             []string
	gotFolder, wantFolder string
}

func (p pair) gotFile(name string) tasks.File {
	return tasks.File{Path: filepath.Join(p.gotFolder, filepath.FromSlash(name))}
}

func (p pair) wantFile(name string) tasks.File {
	return tasks.File{Path: filepath.Join(p.wantFolder, filepath.FromSlash(name))}
}

// unpacked unpacks both archives for as long as they are judged.
func (j judge) unpacked(result, expected tasks.Value, kind archiveKind, score func(pair) (tasks.Score, error)) (_ tasks.Score, err error) {
	e, err := expectedFile(expected)
	if err != nil {
		return tasks.Score{}, err
	}
	r, err := resultFile(result)
	if err != nil {
		return tasks.Score{}, err
	}
	folder, err := os.MkdirTemp("", "archive-")
	if err != nil {
		return tasks.Score{}, err
	}
	defer func() {
		if removing := os.RemoveAll(folder); err == nil && removing != nil {
			err = removing
		}
	}()
	p := pair{gotFolder: filepath.Join(folder, "result"), wantFolder: filepath.Join(folder, "expected")}
	for _, one := range []struct {
		file   file
		folder string
		names  *[]string
	}{{e, p.wantFolder, &p.want}, {r, p.gotFolder, &p.got}} {
		if err := os.Mkdir(one.folder, 0o700); err != nil {
			return tasks.Score{}, err
		}
		if *one.names, err = one.file.unpack(one.folder, kind); err != nil {
			return tasks.Score{}, err
		}
	}
	return score(p)
}

// compareZip: the archives hold the same files, byte for byte; PDF documents need only
// be 95 % alike in their texts. Entries for folders do not count.
func (j judge) compareZip(ctx context.Context, result, expected tasks.Value, _ tasks.Params) (tasks.Score, error) {
	return j.unpacked(result, expected, anyZip, func(p pair) (tasks.Score, error) {
		if score := sameTexts(p.got, p.want); score.Value == 0 {
			return score, nil
		}
		for _, name := range p.want {
			want, err := os.ReadFile(p.wantFile(name).Path)
			if err != nil {
				return tasks.Score{}, err
			}
			got, err := os.ReadFile(p.gotFile(name).Path)
			if err != nil {
				return tasks.Score{}, err
			}
			if slices.Equal(got, want) {
				continue
			}
			if !strings.HasSuffix(strings.ToLower(name), ".pdf") {
				return tasks.No(name + " differs"), nil
			}
			metric, err := j.metric("compare_pdfs")
			if err != nil {
				return tasks.Score{}, err
			}
			score, err := metric(ctx, p.gotFile(name), p.wantFile(name), nil)
			if err != nil {
				return tasks.Score{}, fmt.Errorf("%s: %w", name, err)
			}
			if score.Value < 0.95 {
				return tasks.No(fmt.Sprintf("%s is only %.0f %% alike: %s", name, 100*score.Value, score.Why)), nil
			}
		}
		return tasks.Yes(), nil
	})
}
