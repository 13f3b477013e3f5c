package config

import "strings"

// Nearest returns the candidate that name most likely meant, or "" when none
// is near: at most a third of its letters differ.
func Nearest(name string, candidates []string) string {
	best, distance := "", max(2, len(name)/3)+1
	for _, c := range candidates {
		if d := editDistance(strings.ToLower(name), strings.ToLower(c)); d < distance {
			best, distance = c, d
		}
	}
	return best
}

// editDistance counts the letters to insert, delete, replace or swap with
// their neighbour (optimal string alignment).
func editDistance(a, b string) int {
	var before, last []int
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before, last, row = last, row, make([]int, len(b)+1)
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(last[j]+cost, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
	}
	return row[len(b)]
}
