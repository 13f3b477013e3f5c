//go:build race

package sandbox

// underRace says that tests run about ten times slower. Go modules of 2 MB are compiled
// only in the run without the race detector.
const underRace = true
