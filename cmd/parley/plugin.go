package main

// pluginCmd is parley plugin: tools of one's own, for those who write them and
// for those who install them.
type pluginCmd struct {
	New   pluginNewCmd   `cmd:"" help:"Begin a plugin: a small project that builds and has a test."`
	Build pluginBuildCmd `cmd:"" help:"Compile a plugin into one file."`
}
