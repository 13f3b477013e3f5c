// Package levenshtein counts how far two sequences are apart: of letters, or of words.
package levenshtein

// Distance is how many items must be changed, added or left out to make got of want
// (Levenshtein's distance).
func Distance[T comparable](want, got []T) int {
	row := Row(len(got))
	for _, w := range want {
		Next(row, w, got)
	}
	return row[len(got)]
}

// Row is the first row of the table that Distance is read off: what it takes to make
// of nothing the first items of so many, one number for each count of them.
func Row(n int) []int {
	row := make([]int, n+1)
	for j := range row {
		row[j] = j
	}
	return row
}

// Next makes of a row the one for one more wanted item (Wagner and Fischer, 1974).
func Next[T comparable](row []int, want T, got []T) {
	diagonal := row[0]
	row[0]++
	for j, g := range got {
		change := diagonal
		if want != g {
			change++
		}
		diagonal = row[j+1]
		row[j+1] = min(change, row[j]+1, row[j+1]+1)
	}
}
