// Package levenshtein computes the edit distance of two sequences, of letters or of
// words.
package levenshtein

// Distance returns how many items must be changed, inserted or deleted to make got from
// want.
func Distance[T comparable](want, got []T) int {
	row := Row(len(got))
	for _, w := range want {
		Next(row, w, got)
	}
	return row[len(got)]
}

// Row returns the first row of the table of Wagner and Fischer: the distances of the
// prefixes of n items from the empty sequence.
func Row(n int) []int {
	row := make([]int, n+1)
	for j := range row {
		row[j] = j
	}
	return row
}

// Next turns a row into the next one, for one more wanted item (Wagner and Fischer,
// 1974).
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
