//go:build race

package clean

// raced reports that the race detector is on, which is ten times slower.
const raced = true
