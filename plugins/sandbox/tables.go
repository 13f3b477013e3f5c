package sandbox

import (
	"encoding/binary"
	"errors"
)

// maxTable is how many entries a module's tables may have together. Those of a
// Python compiled to WebAssembly have 10,000; each costs 8 bytes of the box's
// memory that no limit of the runtime counts.
const maxTable = 1 << 20

var errCut = errors.New("truncated")

// boundTables returns the module with a largest size for each of its tables that
// has none, or a larger one than it may have: what a module may ask for then is
// bounded, and table.grow fails in it as it may fail anywhere. All else stays
// as it is; what is no module is left to the runtime to refuse.
func boundTables(wasm []byte) ([]byte, error) {
	for at := 8; at < len(wasm); {
		size, n := binary.Uvarint(wasm[at+1 : min(at+6, len(wasm))])
		begin := at + 1 + n
		if n <= 0 || size > uint64(len(wasm)-begin) {
			return nil, unfit("truncated: the section that begins at byte %d goes beyond the end", at)
		}
		end := begin + int(size)
		if wasm[at] == 4 { // the table section, of which there is one at most
			section, err := tableSection(wasm[begin:end])
			if errors.Is(err, errCut) {
				return nil, unfit("not a valid module: its table section is cut short")
			} else if err != nil {
				return nil, err
			}
			out := append([]byte(nil), wasm[:at+1]...)
			out = binary.AppendUvarint(out, uint64(len(section)))
			out = append(out, section...)
			return append(out, wasm[end:]...), nil
		}
		at = end
	}
	return wasm, nil
}

// tableSection writes a table section anew, with largest sizes. See
// https://www.w3.org/TR/wasm-core-2/#table-section.
func tableSection(b []byte) ([]byte, error) {
	count, b, err := number(b)
	if err != nil {
		return nil, err
	}
	if count > 100 {
		return nil, unfit("the module has %d tables; at most 100 are allowed", count)
	}
	out := binary.AppendUvarint(nil, count)
	total := uint64(0)
	for range count {
		if len(b) < 2 {
			return nil, errCut
		}
		kind, limits := b[0], b[1]
		if limits > 1 {
			return nil, unfit("a table of the module has flags %#x; only plain tables of version 2 are run", limits)
		}
		var least, most uint64
		if least, b, err = number(b[2:]); err != nil {
			return nil, err
		}
		if most = max(least, maxTable/count); limits == 1 {
			var said uint64
			if said, b, err = number(b); err != nil {
				return nil, err
			}
			most = min(most, max(least, said))
		}
		if total += least; total > maxTable {
			return nil, unfit("the module's tables have %d entries or more; at most %d are allowed", total, maxTable)
		}
		out = append(out, kind, 1)
		out = binary.AppendUvarint(out, least)
		out = binary.AppendUvarint(out, most)
	}
	if len(b) > 0 {
		return nil, errCut
	}
	return out, nil
}

func number(b []byte) (uint64, []byte, error) {
	n, length := binary.Uvarint(b[:min(len(b), 5)])
	if length <= 0 || n > 1<<32-1 {
		return 0, nil, errCut
	}
	return n, b[length:], nil
}
