// Package fuzzy measures how alike two texts are, as the Python libraries do that
// task suites were written with: [Ratio] is that of RapidFuzz's fuzz module, and
// [LinesRatio] is the ratio of difflib's SequenceMatcher.
//
// Lengths are in Unicode code points. All functions are exact and take time that
// grows with the product of the lengths or faster, so callers limit what they pass in.
package fuzzy

import (
	"math/bits"
	"slices"

	"github.com/pmezard/go-difflib/difflib"
)

// Ratio is the likeness of two texts from 0 to 100: 100·(1−d/(m+n)), where m and n
// are the lengths and d the least number of insertions and deletions that make one
// of the other (the Indel distance). Two empty texts are alike.
//
// Texts of 100,000 code points that have little in common take about half a second.
func Ratio(a, b string) float64 { return ratio([]rune(a), []rune(b)) }

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
