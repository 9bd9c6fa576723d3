// Package spell finds what was meant by a misspelt name.
package spell

import "slices"

// Nearest returns the n words that differ from word in the fewest letters,
// nearest first, for an error that says what may have been meant. Of a longer
// word only the first 64 bytes count.
func Nearest(word string, words []string, n int) []string {
	if len(word) > 64 {
		word = word[:64]
	}
	best := slices.Clone(words)
	distance := make(map[string]int, len(best))
	for _, w := range best {
		distance[w] = edits(word, w)
	}
	slices.SortStableFunc(best, func(a, b string) int { return distance[a] - distance[b] })
	return best[:min(n, len(best))]
}

// edits counts the bytes to insert, remove or replace to make b of a.
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			above := row[j+1]
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(diagonal+cost, above+1, row[j]+1)
			diagonal = above
		}
	}
	return row[len(b)]
}
