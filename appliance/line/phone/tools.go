package phone

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"parley/appliance/connection"
	"parley/appliance/contract"
)

// RunTool runs a built-in tool of telephones. It implements connection.Tools.
func (c *Call) RunTool(ctx context.Context, r connection.ToolRun) (connection.ToolResult, error) {
	switch r.Name {
	case contract.Transfer:
		return c.toolTransfer(ctx, r)
	case contract.SendDigits:
		return c.sendDigits(ctx, r.Arguments)
	}
	return connection.ToolResult{}, fmt.Errorf("a telephone has no tool %q", r.Name)
}

// sendDigits sends keys to the far end, such as the menu of another telephone system.
func (c *Call) sendDigits(ctx context.Context, arguments string) (connection.ToolResult, error) {
	var a struct {
		Digits string `json:"digits"`
	}
	if err := json.Unmarshal([]byte(arguments), &a); err != nil {
		return connection.ToolResult{}, fmt.Errorf("arguments: %w", err)
	}
	digits := strings.ToUpper(strings.NewReplacer(" ", "", "-", "").Replace(a.Digits))
	if digits == "" || len(digits) > contract.MaxSentKeys || strings.Trim(digits, contract.PhoneKeys) != "" {
		return connection.ToolResult{}, fmt.Errorf("digits: %q cannot be sent; allowed are 1 to %d of %s",
			contract.Clip(a.Digits), contract.MaxSentKeys, contract.PhoneKeys)
	}
	if err := c.person.leg.Press(ctx, digits); err != nil {
		return connection.ToolResult{}, err
	}
	said := strings.Join(strings.Split(digits, ""), " ")
	return connection.ToolResult{Content: "The keys " + said + " were sent."}, nil
}
