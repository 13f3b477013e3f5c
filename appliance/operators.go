package appliance

import (
	"context"

	"parley/store"
)

// operators knows the operator's account: the default one.
type operators struct{ records *store.Store }

func (o operators) Operates(ctx context.Context, accountID string) (bool, error) {
	name, err := o.records.AccountName(ctx, accountID)
	return name == defaultAccount, err
}
