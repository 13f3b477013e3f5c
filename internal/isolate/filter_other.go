//go:build !amd64 && !arm64

package isolate

const (
	auditMachine = 0
	foreignCalls = 1 << 31
)

func allowances(bool, uint32) []allowance { return nil }

func programAllowances(uint32) []allowance { return nil }
