//go:build race

package ear

// raced reports whether the race detector is on.
const raced = true
