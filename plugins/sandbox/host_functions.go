package sandbox

import (
	"context"
	"errors"
	"unicode/utf8"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"parley/plugins/manifest"
)

const (
	// maxKey and maxValue bound what is stored; a value is read as a whole.
	maxKey   = 256
	maxValue = 1 << 20
)

// linkParley provides the box's functions to modules in any language. Pointers and lengths
// refer to the module's own memory. Besides its number, a function leaves an answer for the
// module to fetch: a value, a body, or the reason of a refusal.
func linkParley(ctx context.Context, to wazero.Runtime) (api.Module, error) {
	b := to.NewHostModuleBuilder("parley")
	const i32 = api.ValueTypeI32
	offer := func(name string, parameters int, f func(r *callContext, s []uint64, m api.Module) int32) {
		in := make([]api.ValueType, parameters)
		for i := range in {
			in[i] = i32
		}
		b.NewFunctionBuilder().WithGoModuleFunction(
			api.GoModuleFunc(func(ctx context.Context, m api.Module, s []uint64) {
				s[0] = api.EncodeI32(f(callOf(ctx), s, m))
			}), in, []api.ValueType{i32}).Export(name)
	}
	offer("answer", 2, func(r *callContext, s []uint64, m api.Module) int32 {
		n := min(uint64(uint32(s[1])), uint64(len(r.answer)))
		copy(r.bytes(m, s[0], n), r.answer)
		return int32(len(r.answer))
	})
	offer("http", 4, func(r *callContext, s []uint64, m api.Module) int32 {
		got, err := r.fetch(r.bytes(m, s[0], s[1]), r.bytes(m, s[2], s[3]))
		r.headers = got.headers
		return r.setAnswer(int32(got.status), got.body, err)
	})
	offer("http_headers", 0, func(r *callContext, _ []uint64, _ api.Module) int32 {
		text := jsonOf(r.headers)
		return r.setAnswer(int32(len(r.headers)), text, nil)
	})
	offer("kv_get", 2, func(r *callContext, s []uint64, m api.Module) int32 {
		value, ok, err := r.load(r.key(m, s[0], s[1]))
		found := int32(0)
		if ok {
			found = 1
		}
		return r.setAnswer(found, value, err)
	})
	offer("kv_set", 4, func(r *callContext, s []uint64, m api.Module) int32 {
		return r.setAnswer(0, nil, r.store(r.key(m, s[0], s[1]), r.bytes(m, s[2], s[3])))
	})
	offer("kv_delete", 2, func(r *callContext, s []uint64, m api.Module) int32 {
		return r.setAnswer(0, nil, r.remove(r.key(m, s[0], s[1])))
	})
	offer("kv_keys", 2, func(r *callContext, s []uint64, m api.Module) int32 {
		keys, err := r.keys(r.key(m, s[0], s[1]))
		return r.setAnswer(int32(len(keys)), jsonOf(keys), err)
	})
	offer("conversation", 0, func(r *callContext, _ []uint64, _ api.Module) int32 {
		text, err := r.conversation()
		return r.setAnswer(0, text, err)
	})
	return b.Instantiate(ctx)
}

// bytes returns n bytes of the module's memory, without a copy.
func (r *callContext) bytes(m api.Module, at, n uint64) []byte {
	if uint32(n) == 0 {
		return nil
	}
	if m.Memory() == nil {
		r.fail(fault(Trapped, "it has no memory"))
	}
	b, ok := m.Memory().Read(uint32(at), uint32(n))
	if !ok {
		r.fail(fault(Trapped, "out of bounds: %d bytes at %d are not in its memory", uint32(n), uint32(at)))
	}
	return b
}

// key returns a key in the module's memory. It copies at most one byte more than a key may
// have.
func (r *callContext) key(m api.Module, at, n uint64) string {
	b := r.bytes(m, at, n)
	return string(b[:min(len(b), maxKey+1)])
}

// setAnswer stores an answer for the module and returns its number: -1 for an error, whose
// text is the answer.
func (r *callContext) setAnswer(number int32, answer []byte, err error) int32 {
	r.answer = answer
	if err == nil {
		return number
	}
	r.answer = []byte(err.Error())
	return -1
}

// storage returns the storage of the call if it was granted and key is valid.
func (r *callContext) storage(key string) (Storage, error) {
	switch {
	case r.call.Granted.Storage <= 0 || r.call.Storage == nil:
		return nil, fault(Refused, "storage was not granted")
	case key == "" || len(key) > maxKey || !utf8.ValidString(key):
		return nil, fault(Failed, "invalid key: a key has 1 to %d bytes of UTF-8", maxKey)
	}
	return r.call.Storage, nil
}

func (r *callContext) load(key string) ([]byte, bool, error) {
	s, err := r.storage(key)
	if err != nil {
		return nil, false, err
	}
	value, ok, err := s.Get(r, key)
	return value, ok, r.boxError("read", err)
}

func (r *callContext) store(key string, value []byte) error {
	s, err := r.storage(key)
	if err != nil {
		return err
	}
	if len(value) > maxValue {
		return fault(Failed, "the value has %d bytes; at most %d are allowed", len(value), maxValue)
	}
	err = s.Set(r, key, append([]byte{}, value...), r.call.Granted.Storage)
	if errors.Is(err, ErrFull) {
		return fault(Failed, "the storage is full: at most %s are allowed", manifest.Size(r.call.Granted.Storage))
	}
	return r.boxError("write", err)
}

func (r *callContext) remove(key string) error {
	s, err := r.storage(key)
	if err != nil {
		return err
	}
	return r.boxError("write", s.Delete(r, key))
}

// maxKeys bounds a list of keys.
const maxKeys = 1000

func (r *callContext) keys(prefix string) ([]string, error) {
	s, err := r.storage(prefix + "x")
	if err != nil {
		return nil, err
	}
	keys, err := s.Keys(r, prefix, maxKeys)
	if keys == nil {
		keys = []string{}
	}
	return keys, r.boxError("read", err)
}

// boxError logs an error of the box, and returns one without its details.
func (r *callContext) boxError(what string, err error) error {
	if err == nil {
		return nil
	}
	m := r.instance.module
	m.host.log.Warn("the storage of a plugin failed", "plugin", m.manifest.Name, "to", what, "err", err)
	return fault(Failed, "the box could not %s its storage", what)
}

func (r *callContext) conversation() ([]byte, error) {
	switch {
	case r.call.Granted.Conversation == manifest.NoConversation:
		return nil, fault(Refused, "the conversation was not granted")
	case r.call.Conversation == nil:
		return nil, fault(Failed, "this call does not belong to a conversation")
	}
	text, err := r.call.Conversation.Transcript(r, r.call.Granted.Conversation == manifest.Expression)
	return text, r.boxError("read the conversation from", err)
}
