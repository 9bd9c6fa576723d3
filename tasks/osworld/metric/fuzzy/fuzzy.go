// Package fuzzy measures how alike two texts are, as the Python libraries do that
// task suites were written with: [Ratio], [PartialRatio] and [TokenSortRatio] are
// those of RapidFuzz's fuzz module, and [LinesRatio] is the ratio of difflib's
// SequenceMatcher.
//
// Lengths are in Unicode code points. All functions are exact and take time that
// grows with the product of the lengths or faster, so callers limit what they pass in.
package fuzzy

import (
	"math/bits"
	"slices"
	"strings"
	"unicode"

	"github.com/pmezard/go-difflib/difflib"
)

// Ratio is the likeness of two texts from 0 to 100: 100·(1−d/(m+n)), where m and n
// are the lengths and d the least number of insertions and deletions that make one
// of the other (the Indel distance). Two empty texts are alike.
//
// Texts of 100,000 code points that have little in common take about half a second.
func Ratio(a, b string) float64 { return ratio([]rune(a), []rune(b)) }

// PartialRatio is the best [Ratio] of the shorter text with any part of the longer
// one that is as long as it, or that is cut off by the start or the end. Its time
// grows with the square of the shorter text's length times the longer's.
func PartialRatio(a, b string) float64 {
	short, long := []rune(a), []rune(b)
	if len(short) > len(long) {
		short, long = long, short
	}
	if len(short) == 0 {
		return ratio(short, long)
	}
	best := bestPart(short, long)
	if len(short) == len(long) {
		best = max(best, bestPart(long, short))
	}
	return best
}

func bestPart(short, long []rune) float64 {
	best := 0.0
	for start := 1 - len(short); start < len(long) && best < 100; start++ {
		part := long[max(0, start):min(len(long), start+len(short))]
		best = max(best, ratio(short, part))
	}
	return best
}

// TokenSortRatio is the [Ratio] of the texts with their words in order and with one
// space between them.
func TokenSortRatio(a, b string) float64 { return Ratio(sortWords(a), sortWords(b)) }

func sortWords(s string) string {
	words := strings.FieldsFunc(s, space)
	slices.Sort(words)
	return strings.Join(words, " ")
}

// space reports what Python's str.split takes for white space, which is four
// separators more than Go's unicode.IsSpace.
func space(r rune) bool { return unicode.IsSpace(r) || r >= 0x1c && r <= 0x1f }

// LinesRatio is the likeness of two lists of lines from 0 to 1, which is
// difflib.SequenceMatcher(None, a, b).ratio() with the automatic junk heuristic: it
// is 2·M/T, where T is the number of lines and M that of lines in matching blocks.
// It is not symmetric, and two empty lists are alike.
func LinesRatio(a, b []string) float64 { return difflib.NewMatcher(a, b).Ratio() }

func ratio(a, b []rune) float64 {
	total := len(a) + len(b)
	if total == 0 {
		return 100
	}
	distance := total - 2*lcs(a, b)
	// The order of the operations is the reference's, so that the last bit is too.
	return (1 - float64(distance)/float64(total)) * 100
}

// lcs is the length of the longest common subsequence, by the bit-parallel algorithm
// of H. Hyyrö, "Bit-parallel LCS-length computation revisited" (2004). It goes
// through 64 code points of a at a time, and keeps the carries from one such block
// to the next, so that memory grows with the lengths only.
func lcs(a, b []rune) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	a, b = a[n:], b[n:]
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
		n++
	}
	carries := make([]bool, len(b))
	for block := range slices.Chunk(a, 64) {
		var latin [256]uint64 // where in the block a code point is, for the common ones
		masks := map[rune]uint64{}
		for i, r := range block {
			masks[r] |= 1 << i
			if r < rune(len(latin)) {
				latin[r] = masks[r]
			}
		}
		s := ^uint64(0)
		for j, r := range b {
			var carry uint64
			if carries[j] {
				carry = 1
			}
			mask := uint64(0)
			if r < rune(len(latin)) {
				mask = latin[r]
			} else {
				mask = masks[r]
			}
			u := s & mask
			sum, out := bits.Add64(s, u, carry)
			s = sum | (s - u)
			carries[j] = out != 0
		}
		n += bits.OnesCount64(^s)
	}
	return n
}
