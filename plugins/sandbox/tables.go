package sandbox

import "encoding/binary"

const (
	// maxTable bounds the entries of all tables of a module. Python compiled to WebAssembly
	// has 10,000. Each entry costs 8 bytes that no limit of the runtime counts.
	maxTable  = 1 << 20
	maxTables = 100
)

// boundTables sets a maximum size for each table that has none or a larger one. So a
// module's tables are bounded, and table.grow fails, as it may fail anywhere. See
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
			return unfit("a table of the module has flags %#x; only plain tables of WebAssembly 2.0 are supported",
				limits)
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
		return unfit("not a valid module: its table section is truncated")
	}
	p.set(tableSection, out)
	return nil
}
