//go:build !race

package ear

// raced says that the race detector looks on.
const raced = false
