package bench

import (
	"fmt"
	"slices"
	"strings"

	"parley/appliance/contract"
)

// burdens are what conversations may have besides, which is to cost their turns
// next to nothing.
var burdens = []string{burdenInterim, burdenTools}

const (
	burdenInterim = "interim" // transcripts while the user still speaks
	burdenTools   = "tools"   // three tools, none of which fits what is asked
)

// unfitting are tools for nothing that the recordings ask.
var unfitting = []contract.Tool{
	unfittingTool("set_thermostat", "Sets the temperature of a room in degrees.",
		`"room":{"type":"string"},"degrees":{"type":"number"}`),
	unfittingTool("report_lost_luggage", "Reports a suitcase that was lost at the airport.",
		`"flight":{"type":"string"},"colour":{"type":"string"}`),
	unfittingTool("convert_currency", "Converts an amount of money from one currency into another.",
		`"amount":{"type":"number"},"from":{"type":"string"},"to":{"type":"string"}`),
}

func unfittingTool(name, description, properties string) contract.Tool {
	return contract.Tool{
		Type:        contract.ToolFunction,
		Name:        name,
		Description: description,
		Parameters:  `{"type":"object","properties":{` + properties + `}}`,
	}
}

// with adds burdens to the terms of a chat.
func (t terms) with(all []string) terms {
	t.interim = slices.Contains(all, burdenInterim)
	if slices.Contains(all, burdenTools) {
		t.tools = unfitting
	}
	return t
}

// checkBurdens says which of them there is none of.
func checkBurdens(all []string) error {
	for _, name := range all {
		if !slices.Contains(burdens, name) {
			return &ErrOption{fmt.Sprintf("with %.40q is not known; allowed are %s", name, strings.Join(burdens, ", "))}
		}
	}
	return nil
}
