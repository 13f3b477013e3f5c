package sandbox

import "encoding/binary"

const (
	// maxTable is how many entries a module's tables may have together. Those of a
	// Python compiled to WebAssembly have 10,000; each costs 8 bytes of the box's
	// memory that no limit of the runtime counts.
	maxTable  = 1 << 20
	maxTables = 100
)

// boundTables gives each table of the module a largest size, where it has none or
// a larger one than it may have: what a module may ask for then is bounded, and
// table.grow fails in it as it may fail anywhere. See
// https://www.w3.org/TR/wasm-core-2/#table-section.
func (p *module) boundTables() error {
	c := cursor{b: p.find(tableSection)}
	if len(c.b) == 0 {
		return nil
	}
	count := c.number()
	if count > maxTables {
		return unfit("the module has %d tables; at most %d are allowed", count, maxTables)
	}
	out := binary.AppendUvarint(nil, uint64(count))
	total := uint64(0)
	for range count {
		kind, limits := c.byte(), c.byte()
		if limits > 1 {
			return unfit("a table of the module has flags %#x; only plain tables of version 2 are run", limits)
		}
		least := c.number()
		most := max(least, maxTable/count)
		if limits == 1 {
			most = min(most, max(least, c.number()))
		}
		if total += uint64(least); total > maxTable {
			return unfit("the module's tables have %d entries or more; at most %d are allowed", total, maxTable)
		}
		out = append(out, kind, 1)
		out = binary.AppendUvarint(out, uint64(least))
		out = binary.AppendUvarint(out, uint64(most))
	}
	if c.bad || c.left() > 0 {
		return unfit("not a valid module: its table section is cut short")
	}
	p.set(tableSection, out)
	return nil
}
