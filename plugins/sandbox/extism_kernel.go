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

// kernelCode is the part of the Extism ABI that is itself WebAssembly. kernel/make builds
// it from kernel/kernel.c.
//
//go:embed kernel/kernel.wasm
var kernelCode []byte

// leafImports lists the functions of the kernel that do not leave WebAssembly.
var leafImports = map[string]bool{
	"load_u8": true, "load_u64": true, "store_u8": true, "store_u64": true, "input_load_u8": true,
	"input_load_u64": true,
	"input_offset":   true, "input_length": true, "input_set": true, "output_offset": true, "output_length": true,
	"output_set": true,
	"error_get":  true, "error_set": true,
}

// kernel is the memory through which box and plugin exchange bytes in the Extism ABI:
// blocks with a length, identified by their address. It is a module of its own, whose
// memory both can access. Nothing in it outlives a call.
type kernel struct {
	mod      api.Module
	memory   *memory
	bytes    []byte              // the whole memory, zero beyond end
	end      uint64              // end of the blocks
	blocks   map[uint64]uint64   // length by address
	free     [maxClass][]uint64  // released blocks, by size class
	created  int                 // number of blocks since the last reset
	allocate func(more int) bool // reserves bytes of the instance's memory limit
	charged  int                 // bytes reserved so far
}

// Addresses of the state that box and kernel share; kernel.c has the same numbers.
const (
	stateEnd          = 64 + 8*iota // end of the blocks; never read, because the module can write it
	stateInput                      // address of the input
	stateInputLength                //
	stateOutput                     //
	stateOutputLength               //
	stateFailure                    // block with the plugin's error; 0 if there is none
)

const (
	// firstBlock is the address of the first block; address 0 means none.
	firstBlock = 128
	// kernelSize bounds the blocks of an instance: requests and responses have 4 MiB, an
	// answer 64 KiB.
	kernelSize = 64 << 20
	maxClass   = 27 // blocks of up to 2^26 bytes
	// kernelRetained is the memory that an idle kernel retains.
	kernelRetained = 1 << 20
	// blockCost is the cost of a block in the tables, charged to the plugin's memory: 22
	// bytes in a large map, up to twice that while it grows, and 8 to 16 in a list of
	// released blocks.
	blockCost = 64
	// maxRetainedBlocks is the largest number of blocks whose tables are reused: 64 KiB.
	// Plugins use a few dozen blocks.
	maxRetainedBlocks = 1024
)

func (k *kernel) get(at int) uint64    { return binary.LittleEndian.Uint64(k.bytes[at:]) }
func (k *kernel) set(at int, v uint64) { binary.LittleEndian.PutUint64(k.bytes[at:], v) }

// endAt sets the end of the blocks.
func (k *kernel) endAt(end uint64) {
	k.end = end
	k.set(stateEnd, end)
}

// kernels creates kernels and keeps idle ones, because creating one takes as long as
// creating the instance of a small plugin.
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

// acquire returns an empty kernel.
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

// release takes back the kernel of a closed instance.
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

// reset releases all blocks. It returns large memory to the system, so that an idle
// instance does not retain a large answer.
func (k *kernel) reset() {
	k.allocate(-k.charged)
	touched := k.bytes[:k.end+8] // the last of eight bytes may lie beyond the end
	if len(touched) > kernelRetained {
		_ = unix.Madvise(k.bytes[kernelRetained:(len(touched)+4095)&^4095], unix.MADV_DONTNEED)
		touched = touched[:kernelRetained]
	}
	clear(touched)
	if k.created > maxRetainedBlocks { // grown tables would stay, and take time to clear
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

// class returns the size class of blocks of n bytes, which have 2^class bytes.
func class(n uint64) int { return max(bits.Len64(n-1), 4) }

// alloc returns the address of a new, zeroed block of n bytes; 0 if there is no memory.
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

// release releases a block. It ignores an unknown address.
func (k *kernel) release(at uint64) {
	n, ok := k.blocks[at]
	if !ok {
		return
	}
	delete(k.blocks, at)
	c := class(n)
	k.free[c] = append(k.free[c], at)
}

// block returns the bytes of the block at an address; nil if there is none.
func (k *kernel) block(at uint64) []byte {
	n, ok := k.blocks[at]
	if !ok {
		return nil
	}
	return k.bytes[at : at+n]
}

// put copies b into a new block. The address is 0 if b is empty or there is no memory.
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

// output returns the output that the plugin has set; ok is false if it is not within the
// blocks.
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
