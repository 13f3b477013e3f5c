package webrtc

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	pion "github.com/pion/webrtc/v4"

	"parley/appliance/contract"
)

// offerError returns the error for an offer that cannot be used.
func offerError(err error) error {
	return contract.ErrInvalid{Field: "body",
		Why: fmt.Sprintf("not an offer that can be answered: %.300s", err.Error())}
}

// answer processes an offer, the first or a later one, and returns the answer with all
// addresses of the box.
func (c *Call) answer(ctx context.Context, offer string) (string, error) {
	c.offers.Lock()
	defer c.offers.Unlock()
	if err := errors.Join(checkOffer(offer), c.count(offer)); err != nil {
		return "", err
	}
	if n := len(c.pc.GetTransceivers()); n > maxTransceivers {
		return "", contract.ErrInvalid{Field: "body", Why: fmt.Sprintf("the offers of this call have had %d m-lines "+
			"with names of their own; at most %d are allowed: a=mid names the same one in each", n, maxTransceivers)}
	}
	taken, apart := grouped(offer)
	if err := c.pc.SetRemoteDescription(pion.SessionDescription{Type: pion.SDPTypeOffer,
		SDP: activated(taken)}); err != nil {
		return "", offerError(err)
	}
	if err := c.setVoice(offer); err != nil {
		return "", err
	}
	made, err := c.pc.CreateAnswer(nil)
	if err != nil {
		return "", offerError(err)
	}
	gathered := pion.GatheringCompletePromise(c.pc)
	if err := c.pc.SetLocalDescription(made); err != nil {
		return "", offerError(err)
	}
	ctx, cancel := context.WithTimeout(ctx, c.timing.Gather)
	defer cancel()
	select {
	case <-gathered:
	case <-ctx.Done(): // the addresses so far have to suffice
	}
	c.remote = offer
	answer := withOfferedDirections(c.pc.LocalDescription().SDP, offer)
	if apart {
		answer = without(answer, bundle)
	}
	c.etag = etagOf(answer)
	return answer, nil
}

// change processes a fragment of a description: either further addresses of the client,
// without an answer, or new credentials, which restart ICE and are answered by a fragment.
func (c *Call) change(ctx context.Context, fragment string) (string, error) {
	f := readFragment(fragment)
	c.offers.Lock()
	old := c.remote
	c.offers.Unlock()
	if strings.TrimSpace(fragment) != "" && f.empty() {
		return "", contract.ErrInvalid{Field: "body", Why: "no fragment of a description (RFC 8840): expected " +
			"a=ice-ufrag and a=ice-pwd, and below an m-line a=candidate or a=end-of-candidates"}
	}
	if f.user == "" || f.user == ufrag(old) {
		return "", c.addCandidates(f)
	}
	if !iceText(f.user, 4) || !iceText(f.password, 22) {
		return "", contract.ErrInvalid{Field: "body", Why: "a=ice-ufrag or a=ice-pwd is missing or is none: expected " +
			"both, to begin anew, of letters, digits, + and /, 4 and 22 of them or more, 256 at most"}
	}
	answer, err := c.answer(ctx, f.over(old))
	if err != nil {
		return "", err
	}
	return asFragment(answer), nil
}

// iceText reports whether a text is a valid ICE credential of at least so many characters
// (RFC 8839, section 5.4).
func iceText(s string, least int) bool {
	return len(s) >= least && len(s) <= 256 && !strings.ContainsFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '+' || r == '/')
	})
}

// fragment is an SDP fragment from the client (RFC 8840, section 9).
type fragment struct {
	user, password, mid string
	candidates          []string
	all                 bool // end of candidates
}

// empty reports whether the fragment has no content.
func (f fragment) empty() bool {
	return f.user == "" && f.password == "" && len(f.candidates) == 0 && !f.all
}

func readFragment(text string) (f fragment) {
	lines := bufio.NewScanner(strings.NewReader(text))
	for lines.Scan() {
		name, value, _ := strings.Cut(strings.TrimSpace(lines.Text()), ":")
		switch name {
		case "a=ice-ufrag":
			f.user = value
		case "a=ice-pwd":
			f.password = value
		case "a=mid":
			if f.mid == "" {
				f.mid = value
			}
		case "a=candidate":
			f.candidates = append(f.candidates, "candidate:"+value)
		case "a=end-of-candidates":
			f.all = true
		}
	}
	return f
}

// over returns an offer with the credentials and addresses of the fragment.
func (f fragment) over(offer string) string {
	var b strings.Builder
	for line := range strings.Lines(offer) {
		switch line = strings.TrimRight(line, "\r\n"); {
		case strings.HasPrefix(line, "a=ice-ufrag:"):
			line = "a=ice-ufrag:" + f.user
		case strings.HasPrefix(line, "a=ice-pwd:"):
			line = "a=ice-pwd:" + f.password
		case strings.HasPrefix(line, "a=candidate:"), line == "a=end-of-candidates":
			continue
		}
		b.WriteString(line + "\r\n")
		if strings.HasPrefix(line, "a=mid:") && strings.TrimPrefix(line, "a=mid:") == f.mid {
			for _, c := range f.candidates {
				b.WriteString("a=" + c + "\r\n")
			}
		}
	}
	return b.String()
}

// asFragment returns the parts of an answer that a client needs after an ICE restart.
func asFragment(answer string) string {
	var b strings.Builder
	seen := map[string]bool{}
	for line := range strings.Lines(answer) {
		line = strings.TrimRight(line, "\r\n")
		for _, wanted := range []string{"a=ice-lite", "a=ice-ufrag:", "a=ice-pwd:", "m=audio", "a=mid:", "a=candidate:",
			"a=end-of-candidates"} {
			if !strings.HasPrefix(line, wanted) {
				continue
			}
			if key := line; !seen[key] && !(wanted == "a=mid:" && seen["mid"]) {
				seen[key] = true
				seen["mid"] = seen["mid"] || wanted == "a=mid:"
				b.WriteString(line + "\r\n")
			}
		}
	}
	return b.String()
}

// currentETag returns the ETag of the connection's state.
func (c *Call) currentETag() string {
	c.offers.Lock()
	defer c.offers.Unlock()
	return c.etag
}

// checkETag compares the client's If-Match with the state of the connection: any (*), or
// the ETag of the newest answer. Without If-Match every state matches, for clients that do
// not use ETags.
func (c *Call) checkETag(wanted []string) error {
	now := c.currentETag()
	for _, list := range wanted {
		for one := range strings.SplitSeq(list, ",") {
			if one = strings.TrimSpace(one); one == "*" || one == now {
				return nil
			}
		}
	}
	if len(wanted) == 0 {
		return nil
	}
	return contract.ErrPrecondition{
		Why: fmt.Sprintf("the connection has begun anew since %.80s, which If-Match names: it is %s now", wanted[0],
			now)}
}

// etagOf returns the ETag of an answer (RFC 9725, section 4.3.1).
func etagOf(answer string) string {
	sum := sha256.Sum256([]byte(answer))
	return `"` + hex.EncodeToString(sum[:8]) + `"`
}
