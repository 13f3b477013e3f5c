package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
)

// plainWazero is the yardstick of plugins: the same modules on wazero as its
// documentation shows it, without limits, checks or logs.
type plainWazero struct {
	runtime             wazero.Runtime
	code                wazero.CompiledModule
	alloc, answer, free api.Function
	memory              api.Memory
}

func newPlainRuntime(ctx context.Context, module []byte) (*plainWazero, error) {
	h := &plainWazero{runtime: wazero.NewRuntime(ctx)}
	if _, err := wasi_snapshot_preview1.Instantiate(ctx, h.runtime); err != nil {
		return nil, errors.Join(err, h.runtime.Close(ctx))
	}
	// The module imports the memory functions of the Extism ABI, which are not used here.
	b := h.runtime.NewHostModuleBuilder("extism:host/env")
	none := func(_ context.Context, _ []uint64) {}
	const i32, i64 = api.ValueTypeI32, api.ValueTypeI64
	for name, types := range map[string][2][]api.ValueType{
		"input_length": {nil, {i64}}, "input_load_u8": {{i64}, {i32}}, "input_load_u64": {{i64}, {i64}},
		"alloc":    {{i64}, {i64}},
		"store_u8": {{i64, i32}, nil}, "store_u64": {{i64, i64}, nil}, "output_set": {{i64, i64}, nil},
	} {
		b.NewFunctionBuilder().WithGoFunction(api.GoFunc(none), types[0], types[1]).Export(name)
	}
	if _, err := b.Instantiate(ctx); err != nil {
		return nil, errors.Join(err, h.runtime.Close(ctx))
	}
	var err error
	if h.code, err = h.runtime.CompileModule(ctx, module); err != nil {
		return nil, errors.Join(err, h.runtime.Close(ctx))
	}
	return h, nil
}

func (h *plainWazero) close(ctx context.Context) { _ = h.runtime.Close(ctx) }

// newPlainWazero instantiates module, which is orderReactor in some form.
func newPlainWazero(ctx context.Context, module []byte) (*plainWazero, error) {
	h, err := newPlainRuntime(ctx, module)
	if err != nil {
		return nil, err
	}
	mod, err := h.runtime.InstantiateModule(ctx, h.code, wazero.NewModuleConfig().WithStartFunctions("_initialize"))
	if err != nil {
		return nil, errors.Join(err, h.runtime.Close(ctx))
	}
	h.alloc, h.answer, h.free, h.memory = mod.ExportedFunction("room"), mod.ExportedFunction("by_hand"),
		mod.ExportedFunction("done"), mod.Memory()
	return h, nil
}

// call calls the tool's function.
func (h *plainWazero) call(ctx context.Context, question []byte) ([]byte, error) {
	at, err := h.alloc.Call(ctx, uint64(len(question)))
	if err != nil {
		return nil, err
	}
	if !h.memory.Write(uint32(at[0]), question) {
		return nil, errors.New("the module allocated outside of its memory")
	}
	got, err := h.answer.Call(ctx, at[0], uint64(len(question)))
	if err != nil {
		return nil, err
	}
	text, ok := h.memory.Read(uint32(got[0]>>32), uint32(got[0]))
	if !ok || len(text) == 0 {
		return nil, fmt.Errorf("the module returned nothing (%#x)", got[0])
	}
	text = bytes.Clone(text)
	_, err = h.free.Call(ctx, got[0]>>32, got[0]&(1<<32-1))
	return text, err
}

// newPlainCommand compiles the command.
func newPlainCommand(ctx context.Context) (*plainWazero, error) {
	return newPlainRuntime(ctx, orderCommand)
}

// run instantiates and runs the command.
func (h *plainWazero) run(ctx context.Context, question []byte) error {
	var out bytes.Buffer
	mod, err := h.runtime.InstantiateModule(ctx, h.code, wazero.NewModuleConfig().WithName("").
		WithArgs("order", "order").WithStdin(bytes.NewReader(question)).WithStdout(&out))
	if err != nil {
		return err
	}
	if out.Len() == 0 {
		return errors.New("the command printed nothing")
	}
	return mod.Close(ctx)
}
