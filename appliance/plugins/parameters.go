package plugins

import (
	"parley/appliance/engine/schema"
	"parley/plugins/manifest"
)

// CheckParameters says what is wrong with the parameters of a call of a tool, as a
// conversation sees it before it calls one; nil: they fit. A hook has no schema, and
// of one that is not there the call itself says so. Nor has a schema that cannot be
// read, which a manifest does not have.
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
