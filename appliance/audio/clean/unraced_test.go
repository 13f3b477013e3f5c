//go:build !race

package clean

const raced = false
