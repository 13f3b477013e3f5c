package plugins

import (
	"parley/appliance/engine/schema"
	"parley/plugins/manifest"
)

// CheckParameters checks the parameters of a tool call against the tool's schema, as a chat
// does before it calls one. Hooks have no schema. For an unknown tool the call itself
// fails.
func CheckParameters(m manifest.Manifest, tool, parameters string) error {
	t, ok := m.Tool(tool)
	if !ok {
		return nil
	}
	v, err := schema.Compile(t.Parameters)
	if err != nil {
		return nil
	}
	return v.Validate(parameters)
}
