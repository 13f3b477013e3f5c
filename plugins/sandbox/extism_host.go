package sandbox

import (
	"encoding/json"
)

// The host functions of the Extism ABI besides memory: HTTP and variables.

const (
	// maxVars bounds the variables of an instance without storage: names, values, and
	// varCost for each table entry.
	maxVars = 1 << 20
	varCost = 64
)

// httpRequest is http_request. It returns the body, or 0 if that is empty. A failed request
// ends the call, because the ABI cannot report why it failed.
func (r *callContext) httpRequest(k *kernel, request, body uint64) uint64 {
	r.status, r.headers = 0, nil
	got, err := r.fetch(k.block(request), k.block(body))
	k.release(request)
	k.release(body)
	if err != nil {
		r.fail(AsFault(err))
	}
	r.status, r.headers = got.status, got.headers
	return r.put(got.body)
}

// varGet is var_get. Variables are stored if the plugin was granted storage, and otherwise
// last as long as the instance.
func (r *callContext) varGet(k *kernel, name uint64) uint64 {
	key := string(k.block(name))
	k.release(name)
	if r.call.Granted.Storage <= 0 || r.call.Storage == nil {
		return r.put(r.instance.vars[key])
	}
	value, _, err := r.load(key)
	if err != nil {
		r.fail(AsFault(err))
	}
	return r.put(value)
}

// varSet is var_set; the value 0 deletes.
func (r *callContext) varSet(k *kernel, name, value uint64) {
	key, bytes := string(k.block(name)), k.block(value)
	defer k.release(name)
	defer k.release(value)
	var err error
	switch {
	case r.call.Granted.Storage > 0 && r.call.Storage != nil && value == 0:
		err = r.remove(key)
	case r.call.Granted.Storage > 0 && r.call.Storage != nil:
		err = r.store(key, bytes)
	case value == 0:
		delete(r.instance.vars, key)
	default:
		err = r.instance.setVar(key, bytes)
	}
	if err != nil {
		r.fail(AsFault(err))
	}
}

func (i *instance) setVar(key string, value []byte) error {
	total := len(key) + len(value) + varCost
	for k, v := range i.vars {
		if k != key {
			total += len(k) + len(v) + varCost
		}
	}
	if total > maxVars {
		return fault(TooMuch, "its variables would have %d bytes; at most %d are allowed", total, maxVars)
	}
	if i.vars == nil {
		i.vars = map[string][]byte{}
	}
	i.vars[key] = append([]byte{}, value...)
	return nil
}

func jsonOf(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		return nil // cannot happen for maps and lists of strings
	}
	return text
}
