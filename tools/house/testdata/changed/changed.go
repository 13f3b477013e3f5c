// Package changed changes variables of the package in every way that the rule
// forbids, and uses others as it allows.
package changed

import (
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
)

type record struct {
	count int
	names []string
}

func (r *record) add()    { r.count++ }
func (r record) len() int { return len(r.names) }

var (
	assigned   int
	both, half int
	counted    int
	added      int
	pairs      = map[string]int{}
	list       = []string{"a"}
	array      [4]int
	field      record
	pointer    = &record{}
	grown      []string
	deleted    = map[string]int{"a": 1}
	cleared    = map[string]int{"a": 1}
	copied     = []int{1}
	addressed  int
	element    record
	sliced     [4]int
	ranged     int
	received   record
	through    = &record{}
	locked     sync.Mutex
	holder     struct{ tries atomic.Int64 }
	queue      = make(chan int, 1)
	closure    int
	initial    int

	constant = map[string]int{"a": 1}
	words    = []string{"a"}
	table    = [4]string{"a"}
	pattern  = regexp.MustCompile("a")
	replacer = strings.NewReplacer("a", "b")
	once     = sync.OnceValue(func() int { return 1 })
	value    record
)

func init() { initial = 1 }

func change() {
	assigned = 1
	_, half = 1, 2
	counted++
	added += 2
	pairs["a"] = 1
	list[0] = "b"
	array[1] = 2
	field.names[0] = "c"
	(*pointer).count = 3
	grown = append(grown, "d")
	delete(deleted, "a")
	clear(cleared)
	copy(copied, []int{2})
	p := &addressed
	*p = 1
	q := &element.count
	*q = 1
	copy(sliced[1:], []int{2})
	for ranged = range 3 {
	}
	received.add()
	through.add()
	func() { closure = 1 }()
}

func use() int {
	assigned := constant["a"] // another variable of that name
	assigned++
	var local record
	local.add()
	copy(local.names, words)
	_ = pattern.MatchString(replacer.Replace(words[0]))
	_ = append(table[:2:2], words[:1]...)
	for i := range table {
		assigned += i
	}
	return once() + value.len() + value.count + assigned
}
