// Package media has the metrics of images, PDF documents, sound and films. They
// are named as OSWorld's functions, and judge as those do, but where they judge wrong
// ([Defects]); package
// [desktop-agent/tasks/osworld/metric/media/picture] holds the algorithms for images.
//
// Images, and the tags of MP3 files, are read in this process. Everything else is
// read by programs that are run with limits of time and output, and on Linux of
// memory, as the formats are wide and the files untrusted: ffmpeg for sound and
// films, poppler's pdftotext, pdfinfo and pdfimages for PDF, tesseract for text in
// images. Where one is not installed, the metric returns an error that names the
// Debian package.
package media

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"desktop-agent/tasks"
	"desktop-agent/tasks/osworld/defect"
	"desktop-agent/tasks/osworld/metric/media/picture"
)

// Metrics returns the metrics by OSWorld's function names. They repeat
// the given ones of [Defects].
func Metrics(of defect.Set) map[string]tasks.Metric {
	m := metrics{of}
	return map[string]tasks.Metric{
		"compare_images":                              pair(openImage, m.compareImages),
		"compare_image_list":                          m.compareImageList,
		"check_structure_sim":                         pair(openImage, m.structure),
		"check_structure_sim_resized":                 pair(openImage, m.structureResized),
		"check_structure_sim_with_threshold":          pair(openImage, m.structureThreshold),
		"check_file_exists_and_structure_sim":         pair(openImage, m.structure),
		"check_brightness_decrease_and_structure_sim": pair(openImage, m.darker),
		"check_saturation_increase_and_structure_sim": pair(openImage, m.moreSaturated),
		"check_contrast_increase_and_structure_sim":   pair(openImage, m.moreContrast),
		"check_palette_and_structure_sim":             pair(openImage, m.palette),
		"check_image_mirror":                          pair(openImage, m.mirrored),
		"check_green_background":                      pair(openImage, m.greenBackground),
		"check_sharper":                               pair(openImage, m.sharper),
		"increase_saturation":                         pair(openImage, m.increaseSaturation),
		"decrease_brightness":                         pair(openImage, m.decreaseBrightness),
		"check_textbox_on_leftside":                   single(openImage, m.textOnLeft),
		"check_triangle_position":                     single(openImage, m.triangle),
		"check_image_size":                            single(openImage, m.imageSize),
		"check_image_file_size":                       single(fileSize, m.imageFileSize),
		"compare_image_text":                          single(readImageText, m.imageText),
		"compare_pdfs":                                m.comparePDFs,
		"compare_pdf_images":                          pair(readPDFImages, m.pdfImages),
		"check_pdf_pages":                             single(countPDFPages, m.pdfPages),
		"is_gold_text_included_in_pdf":                m.textInPDF,
		"compare_audios":                              m.compareAudios,
		"compare_videos":                              m.compareVideos,
		"check_mp3_meta":                              single(readTags, m.mp3Meta),
	}
}

type metrics struct{ defect.Set }

// An envError says that a file could not be read for a reason that is not its own:
// a program is missing, or the evaluation was stopped.
type envError struct{ err error }

func (e *envError) Error() string { return e.err.Error() }
func (e *envError) Unwrap() error { return e.err }

// A reader reads a file. All errors but an [envError] are the file's fault.
type reader[T any] func(ctx context.Context, path string) (T, error)

// load reads the file that a getter found.
func load[T any](ctx context.Context, v tasks.Value, read reader[T]) (value T, err error) {
	path, err := tasks.OneFile(v)
	if err != nil {
		return value, err
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return value, tasks.ErrNoFile
	case err != nil:
		return value, err
	case !info.Mode().IsRegular():
		return value, fmt.Errorf("%s: not a regular file", filepath.Base(path))
	}
	if path, err = filepath.Abs(path); err != nil {
		return value, err
	}
	if value, err = read(ctx, path); err != nil {
		return value, fmt.Errorf("%s: %w", filepath.Base(path), err)
	}
	return value, nil
}

// fault judges a result that could not be read.
func fault(err error) (tasks.Score, error) {
	if _, ok := errors.AsType[*envError](err); ok {
		return tasks.Score{}, fmt.Errorf("result: %w", err)
	}
	return tasks.No(fmt.Sprintf("result: %v", err)), nil
}

// pair makes a metric that compares two files. The expected one is read first:
// if it is missing, that is an error whatever the result is.
func pair[T any](read reader[T], judge func(result, expected T, options tasks.Params) (tasks.Score, error)) tasks.Metric {
	return func(ctx context.Context, result, expected tasks.Value, options tasks.Params) (tasks.Score, error) {
		want, err := load(ctx, expected, read)
		if err != nil {
			return tasks.Score{}, fmt.Errorf("expected: %w", err)
		}
		got, err := load(ctx, result, read)
		if err != nil {
			return fault(err)
		}
		return judge(got, want, options)
	}
}

// single makes a metric that judges one file by rules, which are nil if the task
// has none.
func single[T any](read reader[T], judge func(result T, rules tasks.Params) (tasks.Score, error)) tasks.Metric {
	return func(ctx context.Context, result, expected tasks.Value, _ tasks.Params) (tasks.Score, error) {
		rules, err := tasks.Params{"rules": expected}.Map("rules")
		if err != nil {
			return tasks.Score{}, err
		}
		got, err := load(ctx, result, read)
		if err != nil {
			return fault(err)
		}
		return judge(got, rules)
	}
}

func openImage(_ context.Context, path string) (*picture.Image, error) { return picture.Open(path) }

// when is a yes, or a no that says why.
func when(ok bool, why string, args ...any) (tasks.Score, error) {
	if ok {
		return tasks.Yes(), nil
	}
	return tasks.No(fmt.Sprintf(why, args...)), nil
}
