package shelf

import (
	"context"

	"parley/plugins/manifest"
)

// Sees is what an installed plugin was granted to see of the conversations in
// which it is called. The error is an ErrNotInstalled, or of the store.
func (s *Shelf) Sees(ctx context.Context, name string) (manifest.Conversation, error) {
	now, err := s.current(ctx)
	if err != nil {
		return manifest.NoConversation, err
	}
	p, err := named(name)(now)
	if err != nil {
		return manifest.NoConversation, err
	}
	return p.granted.Conversation, nil
}
