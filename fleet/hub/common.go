package hub

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"slices"

	"parley/fleet"
	"parley/store"
)

// doorSecret names the secret from which the hub's keys at its boxes are made.
const doorSecret = "fleet door"

// DoorKey returns the API key with which the hub acts at a box for an account. The box has its hash, and sees the key
// itself when the hub uses it: so it opens no other box.
func (h *Hub) DoorKey(ctx context.Context, box, account string) (string, error) {
	secret, err := h.Records.Secret(ctx, doorSecret)
	if err != nil {
		return "", err
	}
	return doorKey(secret, "key", box, account), nil
}

// doorKey derives a key from a secret. Its 52 characters hold 256 bits, about as much as a key of the store.
func doorKey(secret []byte, use, box, account string) string {
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(use + "\x00" + box + "\x00" + account))
	return base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(mac.Sum(nil))
}

// commonWant is what every box is to run: the accounts that have keys here, with those of clients. Other accounts are
// just names in the chats of boxes.
func (h *Hub) commonWant(ctx context.Context) (fleet.Want, error) {
	w := fleet.Want{Hub: h.Name}
	accounts, err := h.Records.KeyedAccounts(ctx)
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
		w.Accounts = append(w.Accounts, fleet.Account{Name: a.Name, Keys: byAccount[a.Name]})
	}
	return w, nil
}

// addDoorKeys returns a want with the hub's own key at a box for each account. These keys follow from the names of the
// box and the account, so that no hash of the want needs them.
func (h *Hub) addDoorKeys(ctx context.Context, box string, w fleet.Want) (fleet.Want, error) {
	secret, err := h.Records.Secret(ctx, doorSecret)
	if err != nil {
		return w, err
	}
	w.Accounts = slices.Clone(w.Accounts) // other boxes have the same
	for i, a := range w.Accounts {
		key := doorKey(secret, "key", box, a.Name)
		id := sha256.Sum256([]byte(a.Name))
		w.Accounts[i].Keys = append(slices.Clone(a.Keys), fleet.Key{
			ID:         "hub-" + hex.EncodeToString(id[:8]),
			Label:      "the hub",
			Hint:       key[len(key)-4:],
			APIHash:    sum(key),
			SecretHash: sum(doorKey(secret, "secret", box, a.Name)),
		})
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
