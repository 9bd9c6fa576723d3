package media

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/dhowden/tag"

	"desktop-agent/tasks"
	"desktop-agent/tasks/osworld/metric/rule"
)

const maxMP3 = 256 << 20 // bytes

// readTags reads the tags of an MP3 file. A file without tags has none.
func readTags(_ context.Context, path string) (tags map[string]string, err error) {
	data, err := readLimited(path, maxMP3)
	if err != nil {
		return nil, err
	}
	defer func() {
		if r := recover(); r != nil {
			tags, err = nil, fmt.Errorf("damaged tags: %v", r)
		}
	}()
	var meta tag.Metadata
	if bytes.HasPrefix(data, []byte("ID3")) {
		meta, err = tag.ReadID3v2Tags(bytes.NewReader(data))
	} else {
		meta, err = tag.ReadID3v1Tags(bytes.NewReader(data))
	}
	if err != nil {
		return nil, fmt.Errorf("no ID3 tags: %w", err)
	}
	return easyTags(meta), nil
}

// frameNames are the frames of ID3 2.3 and 2.4, and of 2.2, by the names that
// mutagen's EasyID3 has for them.
func frameNames() map[string][]string {
	return map[string][]string{
		"title": {"TIT2", "TT2"}, "artist": {"TPE1", "TP1"}, "album": {"TALB", "TAL"},
		"albumartist": {"TPE2", "TP2"}, "conductor": {"TPE3", "TP3"}, "arranger": {"TPE4", "TP4"},
		"composer": {"TCOM", "TCM"}, "lyricist": {"TEXT", "TXT"}, "author": {"TOLY", "TOL"},
		"tracknumber": {"TRCK", "TRK"}, "discnumber": {"TPOS", "TPA"}, "bpm": {"TBPM", "TBP"},
		"copyright": {"TCOP", "TCR"}, "encodedby": {"TENC", "TEN"}, "length": {"TLEN", "TLE"},
		"grouping": {"TIT1", "TT1"}, "version": {"TIT3", "TT3"}, "organization": {"TPUB", "TPB"},
		"isrc": {"TSRC", "TRC"}, "media": {"TMED", "TMT"}, "language": {"TLAN", "TLA"},
		"discsubtitle": {"TSST"}, "compilation": {"TCMP", "TCP"}, "albumsort": {"TSOA"},
		"artistsort": {"TSOP"}, "titlesort": {"TSOT"}, "albumartistsort": {"TSO2"},
		"composersort": {"TSOC"}, "mood": {"TMOO"},
		"date":         {"TDRC", "TYER", "TYE"},
		"originaldate": {"TDOR", "TORY", "TOR"},
	}
}

func easyTags(meta tag.Metadata) map[string]string {
	raw := meta.Raw()
	tags := map[string]string{}
	for name, frames := range frameNames() {
		for _, frame := range frames {
			if text, ok := raw[frame].(string); ok && tags[name] == "" {
				tags[name] = strings.TrimRight(text, "\x00")
			}
		}
	}
	tags["genre"] = meta.Genre()
	if meta.Format() == tag.ID3v1 {
		tags["title"], tags["artist"], tags["album"] = meta.Title(), meta.Artist(), meta.Album()
		if year := meta.Year(); year > 0 {
			tags["date"] = strconv.Itoa(year)
		}
		if n, _ := meta.Track(); n > 0 {
			tags["tracknumber"] = strconv.Itoa(n)
		}
	}
	return tags
}

// mp3Meta judges tags by the rules under their names, such as
// {"title": {"method": "eq", "ref": "Missing You"}}. A tag that is not there is
// an empty text.
func (metrics) mp3Meta(result map[string]string, rules tasks.Params) (tasks.Score, error) {
	for _, name := range rules.Keys() {
		p, err := rules.Map(name)
		if err != nil {
			return tasks.Score{}, err
		}
		r, err := rule.New(p)
		if err != nil {
			return tasks.Score{}, fmt.Errorf("%s: %w", name, err)
		}
		ok, err := r.Holds(result[name])
		if err != nil {
			return tasks.Score{}, fmt.Errorf("%s: %w", name, err)
		}
		if !ok {
			return tasks.No(fmt.Sprintf("%s is %.80q, which is not %s %.80q", name, result[name], r.Method, fmt.Sprint(r.Ref))), nil
		}
	}
	return tasks.Yes(), nil
}
