package turn

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"parley/appliance/contract"
)

const (
	// answerTime is how long a transfer may take besides the ringing: to say who calls, and to hear
	// whether the person takes the call.
	answerTime = 60 * time.Second
	// digitsLimit is how long contract.MaxSentKeys may take at five a second, with a margin.
	digitsLimit = 30 * time.Second
)

// transferTool returns the tool with which the assistant hands a call over to a person.
func transferTool(to []contract.TransferDestination) Tool {
	var names []string
	limit := time.Duration(0)
	for _, d := range to {
		names = append(names, d.Name)
		limit = max(limit, time.Duration(d.RingSecs)*time.Second)
	}
	choice, err := json.Marshal(names)
	if err != nil { // texts only
		choice = []byte("[]")
	}
	return Tool{
		Name:         string(contract.Transfer),
		Builtin:      true,
		OnBox:        true,
		OfLine:       true,
		Limit:        limit + answerTime,
		Destinations: to,
		Parameters: `{"type":"object","properties":{"destination":{"type":"string","enum":` + string(choice) +
			`,"description":"who takes the call"},"reason":{"type":"string","description":"what the caller wants, ` +
			`in a few words"}},"required":["destination"]}`,
		Description: "Connect the caller with a person: " + strings.Join(names, ", ") + ". For when the caller asks " +
			"for a person or for something that you cannot do.",
	}
}

// sendDigitsTool returns the tool with which the assistant presses keys.
func sendDigitsTool() Tool {
	return Tool{
		Name:    string(contract.SendDigits),
		Builtin: true,
		OnBox:   true,
		OfLine:  true,
		Limit:   digitsLimit,
		Parameters: `{"type":"object","properties":{"digits":{"type":"string","pattern":"^[0-9*#A-D]{1,` +
			strconv.Itoa(contract.MaxSentKeys) + `}$","description":"the keys, such as 42#"}},"required":["digits"]}`,
		Description: "Press keys of the telephone, for a menu that asks for them.",
	}
}

// WithoutLineTools returns the settings without the tools that only a telephone line has.
func (s Settings) WithoutLineTools() Settings {
	s.Tools = slices.DeleteFunc(slices.Clone(s.Tools), func(t Tool) bool { return t.OfLine })
	return s
}
