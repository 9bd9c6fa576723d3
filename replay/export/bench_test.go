package export

import (
	"strings"
	"testing"
)

// A prompt of 20 kB, with 20 texts to hide.
func BenchmarkMask(b *testing.B) {
	red := Redaction{}
	for i := range 20 {
		red.Secrets = append(red.Secrets, "a text that somebody typed, number "+strings.Repeat("x", i+1))
	}
	m, prompt := newMasker(red), strings.Repeat("a prompt with some words ", 800)
	b.SetBytes(int64(len(prompt)))
	for b.Loop() {
		m.mask(prompt)
	}
}

// The demonstration: 13 frames of 1280×960.
func BenchmarkRedactedDemo(b *testing.B) {
	run := openDemo(b)
	for b.Loop() {
		if _, err := Redacted(b.Context(), b.TempDir(), run, Redaction{Typed: true}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkGIFDemo(b *testing.B) {
	run := openDemo(b)
	for b.Loop() {
		if err := GIF(b.Context(), discard{}, run, nil); err != nil {
			b.Fatal(err)
		}
	}
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }
