package appliance

import (
	"fmt"

	"parley/appliance/config"
	"parley/appliance/contract"
)

// checkRemote returns a function that refuses settings which may not be set from afar, and values that are not allowed.
func checkRemote(cfg config.Config) func(key, value string) error {
	return func(key, value string) error {
		return contract.ErrInvalid{Field: "item.name", Why: fmt.Sprintf("%.60q may not be set from afar", key)}
	}
}
