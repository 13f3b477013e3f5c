// Package box is what an operator sees and does of a whole box: its health, packs
// and test webhooks, where it listens, what is wrong with it, and its first key.
// The commands and the API use it.
package box
