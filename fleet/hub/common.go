package hub

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base32"

	"parley/fleet"
	"parley/store"
)

// doorSecret names the secret from which the hub's keys at its boxes are made.
const doorSecret = "fleet door"

// DoorKey returns the API key with which the hub acts at its boxes for an account. Every box has its hash.
func (h *Hub) DoorKey(ctx context.Context, account string) (string, error) {
	secret, err := h.Records.Secret(ctx, doorSecret)
	if err != nil {
		return "", err
	}
	return doorKey(secret, "key", account), nil
}

// doorKey derives a key from a secret. Its 52 characters hold 256 bits, about as much as a key of the store.
func doorKey(secret []byte, use, account string) string {
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(use + "\x00" + account))
	return base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(mac.Sum(nil))
}

// commonWant is what every box is to run: the keys of clients, and the hub's own key for each account.
func (h *Hub) commonWant(ctx context.Context) (fleet.Want, error) {
	w := fleet.Want{Hub: h.Name}
	secret, err := h.Records.Secret(ctx, doorSecret)
	if err != nil {
		return w, err
	}
	accounts, err := h.Records.Accounts(ctx)
	if err != nil {
		return w, err
	}
	keys, err := h.Records.ClientKeys(ctx, h.now().UnixMilli())
	if err != nil {
		return w, err
	}
	byAccount := map[string][]fleet.Key{}
	for _, k := range keys {
		byAccount[k.Account] = append(byAccount[k.Account], sentKey(k))
	}
	for _, a := range accounts {
		key, second := doorKey(secret, "key", a.Name), doorKey(secret, "secret", a.Name)
		hub := fleet.Key{
			ID:         "hub-" + a.ID[:8],
			Label:      "the hub " + h.Name,
			Hint:       key[len(key)-4:],
			APIHash:    sum(key),
			SecretHash: sum(second),
		}
		w.Accounts = append(w.Accounts, fleet.Account{Name: a.Name, Keys: append(byAccount[a.Name], hub)})
	}
	return w, nil
}

func sentKey(k store.ClientKeyHash) fleet.Key {
	return fleet.Key{
		ID:         k.ID,
		Label:      k.Label,
		Hint:       k.Hint,
		APIHash:    k.APIHash,
		SecretHash: k.SecretHash,
		ExpiresMS:  k.ExpiresMS,
	}
}

func sum(text string) []byte {
	s := sha256.Sum256([]byte(text))
	return s[:]
}
