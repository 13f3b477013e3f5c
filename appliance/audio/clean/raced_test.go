//go:build race

package clean

// raced says that the race detector looks on, which takes ten times as long.
const raced = true
