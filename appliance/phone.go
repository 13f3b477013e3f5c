package appliance

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"sync/atomic"
	"time"

	"parley/appliance/api"
	"parley/appliance/box"
	"parley/appliance/chat"
	"parley/appliance/chat/turn"
	"parley/appliance/config"
	"parley/appliance/contract"
	"parley/appliance/engine"
	"parley/appliance/line/phone"
	"parley/appliance/line/phone/sip"
	"parley/appliance/line/phone/stream"
	"parley/store"
)

// telephone is the line of telephones. It is open before the models are loaded, and
// refuses calls until then.
type telephone struct {
	*appliance
	line     atomic.Pointer[phone.Server] // nil before the models are loaded
	endpoint *sip.Endpoint                // nil: the box has no SIP
	streams  *stream.Server

	// These are set before the line is.
	configs api.Configs
	voices  chat.AccountVoices
}

// openPhone listens for calls, if the settings want that.
func (a *appliance) openPhone() error {
	a.phone = &telephone{appliance: a}
	var err error
	if a.phone.streams, err = a.phone.openStreams(); err != nil {
		return err
	}
	if len(a.cfg.Phone.Listen) == 0 {
		return nil
	}
	if a.phone.endpoint, err = a.phone.openSIP(); err != nil {
		return fmt.Errorf("phone: %w", err)
	}
	a.onClose(a.phone.cutOff)
	return nil
}

// start lets calls in, once the models are loaded.
func (t *telephone) start(v chat.AccountVoices, d engine.VoiceDetector, transcriber engine.Transcriber) {
	t.configs, t.voices = api.NewConfigs(t.records, t.plugins), v
	p := phone.Parts{
		Host:        t.admission,
		Answers:     t.answers,
		Assistant:   t.assistant,
		CanDial:     t.canDial,
		Dial:        t.dial,
		Detector:    d,
		Transcriber: transcriber,
		Log:         t.log.With("line", phone.Kind),
	}
	if t.endpoint != nil {
		for _, trunk := range t.cfg.Phone.Trunks {
			p.Trunks = append(p.Trunks, trunk.Name)
		}
	}
	t.line.Store(phone.New(p, phone.Options{
		Consent: phone.Consent(t.cfg.Phone.Consent),
		Hold:    t.holdMusic(),
	}))
}

// holdMusic returns what callers hear who wait for a person. A file that cannot be read is silence: a box must
// not stay away for that.
func (t *telephone) holdMusic() []float32 {
	pcm, err := box.HoldMusic(t.cfg.Phone)
	if err != nil {
		t.log.Error("callers who wait hear silence", "err", err)
	}
	return pcm
}

// server returns the line, once it is open.
func (t *telephone) server() (*phone.Server, error) {
	if s := t.line.Load(); s != nil {
		return s, nil
	}
	return nil, errLoading
}

// stop ends the calls that have no chat. The host ends the chats.
func (t *telephone) stop() {
	if s := t.line.Load(); s != nil {
		s.Stop()
	}
}

// Close waits for the calls to end, and closes the line.
func (t *telephone) Close(ctx context.Context) error {
	if s := t.line.Load(); s != nil {
		s.Close(ctx)
	}
	if t.endpoint == nil {
		return nil
	}
	return t.endpoint.Close(ctx)
}

// cutOff ends the calls at once, if Close did not end them before.
func (t *telephone) cutOff() { _ = t.Close(ended()) }

// findTimeout bounds the look-up of who answers a call: a caller hears nothing meanwhile.
const findTimeout = 2 * time.Second

// answers returns who answers a called number, as the extensions have it.
func (t *telephone) answers(ctx context.Context, number string) (phone.Assistant, error) {
	ctx, cancel := context.WithTimeout(ctx, findTimeout)
	defer cancel()
	e, ok := t.extension(number)
	if !ok {
		return phone.Assistant{}, contract.ErrNotFound{What: "extension", ID: number}
	}
	account, settings, err := box.PhoneChat(ctx, t.records, e)
	if err != nil {
		return phone.Assistant{}, err
	}
	return t.assistant(ctx, account, settings)
}

// extension returns the extension that answers a number: its own, or the one for all others.
func (t *telephone) extension(number string) (e config.Extension, ok bool) {
	if plain, err := contract.ParsePhoneNumber(number); err == nil {
		number = plain
	}
	for _, x := range t.cfg.Phone.Extensions {
		if x.Number == number {
			return x, true
		}
		if x.Number == config.AnyNumber {
			e, ok = x, true
		}
	}
	return e, ok
}

// assistant returns the assistant of an account with settings, and prepares its voice.
func (t *telephone) assistant(ctx context.Context, account string, s contract.ConnectSettings) (a phone.Assistant,
	err error) {
	a = phone.Assistant{
		Account:  account,
		Settings: s,
		Recorded: t.cfg.Retention.History && t.cfg.Retention.Audio,
	}
	if a.Name, err = t.records.AccountName(ctx, account); err != nil {
		return a, err
	}
	voice := s.VoiceID
	if s.ConfigID != "" {
		c, err := t.configs.Config(ctx, account, s.ConfigID, s.ConfigVersion)
		if errors.Is(err, store.ErrNotFound) {
			return a, contract.ErrNotFound{What: "config", ID: s.ConfigID, Field: "config_id"}
		}
		if err != nil {
			return a, err
		}
		if c.Voice != nil && voice == "" {
			voice = c.Voice.ID
		}
		a.Greets = c.EventMessages.OnNewChat.Enabled
		if m := c.EventMessages.OnMailbox; m != nil && m.Enabled {
			filled, _ := turn.Settings{}.Merge(contract.SessionSettings{Variables: s.SessionSettings.Variables})
			a.Mailbox = filled.Fill(m.Text, time.Now())
		}
	}
	if err := t.voices.Prepare(account, voice); err != nil {
		return a, err
	}
	a.Voice = phoneVoice{t, account, voice}
	return a, nil
}

// admit returns why an account cannot have a chat by telephone now; nil if it can.
func (t *telephone) admit(ctx context.Context, account string, s contract.ConnectSettings) error {
	if _, err := t.server(); err != nil {
		return err
	}
	slot, err := t.admission.Reserve(account)
	if err != nil {
		return err
	}
	slot.Release()
	_, err = t.assistant(ctx, account, s)
	return err
}

// Status returns the state of the telephone.
func (t *telephone) Status() contract.Phone {
	p := contract.Phone{
		Listeners:  []contract.PhoneListener{},
		Trunks:     []contract.PhoneTrunk{},
		Extensions: []contract.PhoneExtension{},
		Calls:      []contract.PhoneCall{},
		EndedCalls: []contract.PhoneCall{},
	}
	if t.endpoint != nil {
		for _, address := range t.endpoint.Listeners() {
			p.Listeners = append(p.Listeners, contract.PhoneListener{Address: address, Open: true})
		}
		p.Trunks = append(p.Trunks, t.trunks()...)
	}
	for _, e := range t.cfg.Phone.Extensions {
		p.Extensions = append(p.Extensions, contract.PhoneExtension(e))
	}
	if s := t.line.Load(); s != nil {
		live, over := s.Calls()
		p.Calls, p.EndedCalls = append(p.Calls, live...), append(p.EndedCalls, over...)
	}
	return p
}

// Call calls a number.
func (t *telephone) Call(ctx context.Context, account string, posted contract.PostedPhoneCall) (contract.PhoneCall,
	error) {
	s, err := t.server()
	if err != nil {
		return contract.PhoneCall{}, err
	}
	return s.Call(ctx, account, posted)
}

// HangUp ends a call.
func (t *telephone) HangUp(id string) error {
	s, err := t.server()
	if err != nil {
		return err
	}
	return s.HangUp(id)
}

// Transfer hands a call over to a person.
func (t *telephone) Transfer(ctx context.Context, id string, posted contract.PostedPhoneTransfer) error {
	s, err := t.server()
	if err != nil {
		return err
	}
	return s.Transfer(ctx, id, posted)
}

// externalAddress returns the address of the settings; the zero value if there is none.
func externalAddress(text string) netip.Addr {
	at, _ := netip.ParseAddr(text) // was checked when it was set
	return at
}
