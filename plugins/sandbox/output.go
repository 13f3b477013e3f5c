package sandbox

// output is the stdout of a WASI command. Writing more than MaxContent ends the call at
// once.
type output struct {
	in    *instance
	bytes []byte
}

func (o *output) Write(b []byte) (int, error) {
	if len(o.bytes)+len(b) > MaxContent {
		f := fault(TooMuch, "the answer is too long: at most %d bytes are allowed", MaxContent)
		if o.in.current != nil {
			o.in.current.stop(f)
		}
		return 0, f
	}
	o.bytes = append(o.bytes, b...)
	return len(b), nil
}
