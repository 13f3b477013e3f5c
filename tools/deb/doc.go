// Package deb has the scripts that make the Debian package and the container image, and their
// tests.
package deb
