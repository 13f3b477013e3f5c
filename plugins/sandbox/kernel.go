package sandbox

import (
	"context"
	_ "embed"
	"encoding/binary"
	"fmt"
	"math/bits"
	"sync/atomic"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
	"golang.org/x/sys/unix"
)

// kernelCode is the part of the Extism ABI that is WebAssembly itself:
// kernel/make makes it from kernel/kernel.c.
//
//go:embed kernel/kernel.wasm
var kernelCode []byte

// leaf are the functions of the kernel that do not leave WebAssembly.
var leafImports = map[string]bool{
	"load_u8": true, "load_u64": true, "store_u8": true, "store_u64": true, "input_load_u8": true,
	"input_load_u64": true,
	"input_offset":   true, "input_length": true, "input_set": true, "output_offset": true, "output_length": true,
	"output_set": true,
	"error_get":  true, "error_set": true,
}

// kernel is the memory through which box and plugin exchange bytes in the Extism
// ABI: blocks with a length, named by where they begin. Nothing in it outlives a
// call. It is a module beside the plugin's, whose memory lies open to both.
type kernel struct {
	mod      api.Module
	memory   *memory
	bytes    []byte              // all that the module's memory may have, zero beyond end
	end      uint64              // where blocks end
	blocks   map[uint64]uint64   // where a block begins, and its length
	free     [maxClass][]uint64  // blocks given back, by the class of their size
	created  int                 // how many there have been since it was empty
	allocate func(more int) bool // asks for more bytes of the instance's memory
	charged  int                 // how many it was given
}

// Where the state is that both know; the same numbers stand in kernel.c.
const (
	stateEnd          = 64 + 8*iota // where blocks end; never read, in case a module has written it
	stateInput                      // where the input begins
	stateInputLength                //
	stateOutput                     //
	stateOutputLength               //
	stateFailure                    // the block with the plugin's error; 0 is none
)

const (
	// firstBlock is where blocks begin: 0 means none.
	firstBlock = 128
	// kernelSize is how many bytes the blocks of an instance may have: requests
	// and responses have 4 MiB, an answer 64 KiB.
	kernelSize = 64 << 20
	maxClass   = 27 // blocks of up to 2^26 bytes
	// kernelRetained is how much of its memory a kernel that waits holds on to.
	kernelRetained = 1 << 20
	// blockCost is what the table takes for a block, in bytes of the plugin's memory:
	// 22 in a large map, up to twice that while it grows, and 8 to 16 in a list of free
	// ones.
	blockCost = 64
	// maxRetainedBlocks is how many blocks a table may have had that is used again: 64 KiB of
	// it. Plugins have a few dozen.
	maxRetainedBlocks = 1024
)

func (k *kernel) get(at int) uint64    { return binary.LittleEndian.Uint64(k.bytes[at:]) }
func (k *kernel) set(at int, v uint64) { binary.LittleEndian.PutUint64(k.bytes[at:], v) }

// endAt says where blocks end.
func (k *kernel) endAt(end uint64) {
	k.end = end
	k.set(stateEnd, end)
}

// kernels makes kernels, and keeps those that no instance has any more: to make
// one takes as long as a small plugin's instance.
type kernels struct {
	runtime wazero.Runtime
	code    wazero.CompiledModule
	idle    chan *kernel
}

func (h *Host) newKernels(ctx context.Context, most int) (*kernels, error) {
	code, err := h.compile(ctx, kernelCode)
	if err != nil {
		return nil, err
	}
	return &kernels{h.runtime, code, make(chan *kernel, most)}, nil
}

// acquire is an empty kernel.
func (ks *kernels) acquire() (*kernel, error) {
	select {
	case k := <-ks.idle:
		return k, nil
	default:
	}
	memory, err := reserve(kernelSize, new(atomic.Int64))
	if err != nil {
		return nil, err
	}
	ctx := experimental.WithMemoryAllocator(context.Background(),
		experimental.MemoryAllocatorFunc(func(_, _ uint64) experimental.LinearMemory {
			return memory
		}))
	mod, err := ks.runtime.InstantiateModule(ctx, ks.code, wazero.NewModuleConfig().WithName(""))
	if err != nil {
		memory.release()
		return nil, fmt.Errorf("the kernel of the Extism ABI: %w", err)
	}
	k := &kernel{
		mod:    mod,
		memory: memory,
		bytes:  memory.reserved,
		blocks: map[uint64]uint64{},
	}
	k.endAt(firstBlock)
	return k, nil
}

// release takes k from an instance that has ended.
func (ks *kernels) release(k *kernel) {
	k.reset()
	k.allocate = nil
	select {
	case ks.idle <- k:
	default:
		k.close()
	}
}

func (ks *kernels) close() {
	for {
		select {
		case k := <-ks.idle:
			k.close()
		default:
			return
		}
	}
}

func (k *kernel) close() {
	_ = k.mod.Close(context.Background())
	k.memory.release()
}

// reset forgets everything. What is large is given back to the system, so that
// one large answer does not stay in a kept instance.
func (k *kernel) reset() {
	k.allocate(-k.charged)
	touched := k.bytes[:k.end+8] // the last of eight bytes may lie beyond the end
	if len(touched) > kernelRetained {
		_ = unix.Madvise(k.bytes[kernelRetained:(len(touched)+4095)&^4095], unix.MADV_DONTNEED)
		touched = touched[:kernelRetained]
	}
	clear(touched)
	if k.created > maxRetainedBlocks { // what it has grown to would stay, and take time to clear
		k.blocks, k.free = map[uint64]uint64{}, [maxClass][]uint64{}
	} else {
		clear(k.blocks)
		for i := range k.free {
			k.free[i] = k.free[i][:0]
		}
	}
	k.created, k.charged = 0, 0
	k.endAt(firstBlock)
}

// class is that of blocks of n bytes: they have room for 2^class.
func class(n uint64) int { return max(bits.Len64(n-1), 4) }

// alloc makes a block of n bytes, zeroed; 0 where there is no room.
func (k *kernel) alloc(n uint64) uint64 {
	if n == 0 || n > 1<<(maxClass-1) {
		return 0
	}
	c := class(n)
	if given := k.free[c]; len(given) > 0 {
		at := given[len(given)-1]
		k.free[c] = given[:len(given)-1]
		clear(k.bytes[at : at+n])
		k.blocks[at] = n
		return at
	}
	at, cost := k.end, 1<<c+blockCost
	end := at + 1<<c
	if end > kernelSize-8 || !k.allocate(cost) {
		return 0
	}
	k.charged += cost
	k.created++
	clear(k.bytes[at : at+8])
	k.endAt(end)
	k.blocks[at] = n
	return at
}

// release gives a block back. One that there is not is nobody's.
func (k *kernel) release(at uint64) {
	n, ok := k.blocks[at]
	if !ok {
		return
	}
	delete(k.blocks, at)
	c := class(n)
	k.free[c] = append(k.free[c], at)
}

// block is the bytes of the block at; nil where there is none.
func (k *kernel) block(at uint64) []byte {
	n, ok := k.blocks[at]
	if !ok {
		return nil
	}
	return k.bytes[at : at+n]
}

// put makes a block with what is in b; 0 where b is empty or there is no room.
func (k *kernel) put(b []byte) (at uint64, ok bool) {
	if len(b) == 0 {
		return 0, true
	}
	at = k.alloc(uint64(len(b)))
	if at == 0 {
		return 0, false
	}
	copy(k.bytes[at:], b)
	return at, true
}

// setInput makes b the input.
func (k *kernel) setInput(b []byte) bool {
	at, ok := k.put(b)
	k.set(stateInput, at)
	k.set(stateInputLength, uint64(len(b)))
	return ok
}

// output is what the plugin set as its output; ok is false where that is not in
// the blocks.
func (k *kernel) output() (b []byte, ok bool) {
	at, n := k.get(stateOutput), k.get(stateOutputLength)
	if n == 0 {
		return nil, true
	}
	if at < firstBlock || at > k.end || n > k.end-at {
		return nil, false
	}
	return k.bytes[at : at+n], true
}
