// The part of the Extism ABI that plugins call for every eight bytes, as a
// WebAssembly module of its own: a call from module to module takes a few
// nanoseconds, a call of the box fifty. Other calls are passed on to the box.
//
// Its memory begins with the state below, which the box shares. Blocks, which the box
// allocates, follow from FIRST on. Reads out of bounds return 0 and writes are
// ignored, as in Extism's own kernel.

typedef unsigned char u8;
typedef unsigned int u32;
typedef unsigned long long u64;

// extism_kernel.go has the same numbers.
#define STATE 64
#define FIRST 128

struct state {
	u64 end; // of the blocks
	u64 input, input_length;
	u64 output, output_length;
	u64 failure;
};

#define state ((struct state *)STATE)
#define OFFER(name) __attribute__((export_name(#name)))

static int in(u64 at) { return at >= FIRST && at < state->end; }

static int all_in(u64 at, u64 n) { return in(at) && n <= state->end - at; }

OFFER(load_u8) u32 load_u8(u64 at) { return in(at) ? *(u8 *)(u32)at : 0; }

OFFER(load_u64) u64 load_u64(u64 at) { return in(at) ? *(u64 *)(u32)at : 0; }

OFFER(store_u8) void store_u8(u64 at, u32 b) {
	if (in(at))
		*(u8 *)(u32)at = b;
}

OFFER(store_u64) void store_u64(u64 at, u64 b) {
	if (in(at))
		*(u64 *)(u32)at = b;
}

OFFER(input_load_u8) u32 input_load_u8(u64 at) { return at < state->input_length ? *(u8 *)(u32)(state->input + at) : 0; }

OFFER(input_load_u64) u64 input_load_u64(u64 at) {
	u64 n = state->input_length;
	return at < n && n - at >= 8 ? *(u64 *)(u32)(state->input + at) : 0;
}

OFFER(input_offset) u64 input_offset(void) { return state->input; }
OFFER(input_length) u64 input_length(void) { return state->input_length; }
OFFER(input_set) void input_set(u64 at, u64 n) {
	if (all_in(at, n))
		state->input = at, state->input_length = n;
}

OFFER(output_offset) u64 output_offset(void) { return state->output; }
OFFER(output_length) u64 output_length(void) { return state->output_length; }
OFFER(output_set) void output_set(u64 at, u64 n) {
	if (all_in(at, n))
		state->output = at, state->output_length = n;
}

OFFER(error_get) u64 error_get(void) { return state->failure; }
OFFER(error_set) void error_set(u64 at) {
	if (at == 0 || in(at))
		state->failure = at;
}

// The functions of the box.
#define BOX(name) __attribute__((import_module("box"), import_name(#name)))
#define PASS_1(result, name, a)                  \
	BOX(name) result box_##name(a);          \
	OFFER(name) result name(a x) { return box_##name(x); }
#define PASS_2(result, name, a, b)               \
	BOX(name) result box_##name(a, b);       \
	OFFER(name) result name(a x, b y) { return box_##name(x, y); }
#define PASS_0(result, name)                     \
	BOX(name) result box_##name(void);       \
	OFFER(name) result name(void) { return box_##name(); }

PASS_1(u64, alloc, u64)
PASS_1(void, free, u64)
PASS_1(u64, length, u64)
PASS_1(u64, length_unsafe, u64)
PASS_0(void, reset)
PASS_0(u64, memory_bytes)
PASS_1(u64, config_get, u64)
PASS_1(u64, var_get, u64)
PASS_2(void, var_set, u64, u64)
PASS_2(u64, http_request, u64, u64)
PASS_0(u32, http_status_code)
PASS_0(u64, http_headers)
PASS_0(u32, get_log_level)
PASS_1(void, log_trace, u64)
PASS_1(void, log_debug, u64)
PASS_1(void, log_info, u64)
PASS_1(void, log_warn, u64)
PASS_1(void, log_error, u64)
