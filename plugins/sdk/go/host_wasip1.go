package parley

import (
	"errors"
	"unsafe"
)

// The functions of the box, as docs/plugins/abi.md describes them.

//go:wasmimport parley answer
func hostAnswer(to unsafe.Pointer, length uint32) uint32

//go:wasmimport parley http
func hostHTTP(request unsafe.Pointer, requestLength uint32, body unsafe.Pointer, bodyLength uint32) int32

//go:wasmimport parley kv_get
func hostLoad(key unsafe.Pointer, length uint32) int32

//go:wasmimport parley kv_set
func hostStore(key unsafe.Pointer, keyLength uint32, value unsafe.Pointer, valueLength uint32) int32

//go:wasmimport parley kv_delete
func hostDelete(key unsafe.Pointer, length uint32) int32

//go:wasmimport parley kv_keys
func hostKeys(prefix unsafe.Pointer, length uint32) int32

//go:wasmimport parley conversation
func hostConversation() int32

func at(b []byte) (unsafe.Pointer, uint32) {
	return unsafe.Pointer(unsafe.SliceData(b)), uint32(len(b))
}

// lastAnswer returns the answer that the last host function left besides its number.
func lastAnswer() []byte {
	b := make([]byte, hostAnswer(nil, 0))
	to, length := at(b)
	hostAnswer(to, length)
	return b
}

// refused returns the error of a host function whose number is negative.
func refused(code int32) error {
	if code < 0 {
		return errors.New(string(lastAnswer()))
	}
	return nil
}

func fetch(request, body []byte) (int, []byte, error) {
	r, rLength := at(request)
	b, bLength := at(body)
	status := hostHTTP(r, rLength, b, bLength)
	if err := refused(status); err != nil {
		return 0, nil, err
	}
	return int(status), lastAnswer(), nil
}

func load(key string) ([]byte, bool, error) {
	k, length := at([]byte(key))
	found := hostLoad(k, length)
	if found <= 0 {
		return nil, false, refused(found)
	}
	return lastAnswer(), true, nil
}

func store(key string, value []byte) error {
	k, kLength := at([]byte(key))
	v, vLength := at(value)
	return refused(hostStore(k, kLength, v, vLength))
}

func remove(key string) error {
	k, length := at([]byte(key))
	return refused(hostDelete(k, length))
}

func keys(prefix string) ([]byte, error) {
	p, length := at([]byte(prefix))
	if err := refused(hostKeys(p, length)); err != nil {
		return nil, err
	}
	return lastAnswer(), nil
}

func conversation() ([]byte, error) {
	if err := refused(hostConversation()); err != nil {
		return nil, err
	}
	return lastAnswer(), nil
}
