//go:build race

package sandbox

// underRace says that tests are slowed down tenfold. Modules of 2 MB, as Go
// makes them, are compiled in the run without the race detector alone.
const underRace = true
