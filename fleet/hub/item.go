package hub

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"parley/appliance/contract"
	"parley/fleet"
	"parley/store"
)

// pinned is an item as it is now, with all that it needs.
type pinned struct {
	key     itemKey
	name    string
	version int    // -1: it has none
	content string // for people
	part    fleet.Want
}

// pin reads an item whole, so that later edits on the hub do not change what is rolled out.
func (h *Hub) pin(ctx context.Context, account store.Account, posted contract.PostedRollout) (pinned, error) {
	item := posted.Item
	switch item.Kind {
	case contract.FleetConfig, contract.FleetPrompt, contract.FleetTool:
		return h.pinResource(ctx, account, store.Kind(item.Kind), posted)
	case contract.FleetVoice:
		return h.pinVoice(ctx, account, item)
	case contract.FleetLexicon:
		return h.pinLexicon(ctx, account)
	case contract.FleetPlugin:
		return h.pinPlugin(ctx, item)
	default:
		return h.pinSetting(item, posted.Value)
	}
}

// named returns the key of an item that the hub need not have any more.
func named(account store.Account, item contract.FleetItem) pinned {
	p := pinned{key: itemKey{kind: string(item.Kind), item: item.ID}, name: item.Name, version: -1}
	switch item.Kind {
	case contract.FleetPlugin, contract.FleetSetting:
		if p.key.item = item.Name; item.Name == "" {
			p.key.item = item.ID
		}
		p.name = p.key.item
	case contract.FleetLexicon:
		p.key.account, p.key.item, p.name = account.Name, "", account.Name
	default:
		p.key.account = account.Name
	}
	return p
}

func (h *Hub) pinResource(ctx context.Context, account store.Account, kind store.Kind, posted contract.PostedRollout) (
	pinned, error) {
	id := posted.Item.ID
	if id == "" {
		ids, err := h.Records.ResourceIDs(ctx, account.ID, kind, posted.Item.Name)
		if err != nil {
			return pinned{}, err
		}
		switch len(ids) {
		case 0:
			return pinned{}, contract.ErrNotFound{What: string(kind), ID: posted.Item.Name, Field: "item.name"}
		case 1:
			id = ids[0]
		default:
			return pinned{}, contract.ErrInvalid{Field: "item.name",
				Why: fmt.Sprintf("%d of the account have it; give the id", len(ids))}
		}
	}
	ref := store.Ref{Kind: kind, ID: id, Version: store.Newest}
	if posted.Version != nil {
		ref.Version = *posted.Version
	}
	v, err := h.Records.VersionOf(ctx, account.ID, ref)
	if missing, ok := errors.AsType[store.ErrMissing](err); ok {
		return pinned{}, contract.ErrNotFound{What: missing.What(), ID: id, Field: "item.id"}
	}
	if err != nil {
		return pinned{}, err
	}
	p := pinned{key: itemKey{string(kind), account.Name, id}, name: v.Name, version: v.Number}
	one := fleet.Account{Name: account.Name}
	switch kind {
	case store.KindConfig:
		err = h.addConfig(ctx, account, v, &one)
	case store.KindPrompt:
		one.Prompts = []fleet.Resource{resource(v)}
	case store.KindTool:
		one.Tools = []fleet.Resource{resource(v)}
	}
	p.part.Accounts = []fleet.Account{one}
	return p, err
}

func resource(v store.Version) fleet.Resource {
	r := fleet.Resource{
		ID:          v.ID,
		Name:        v.Name,
		Version:     v.Number,
		Description: v.Description,
		Content:     json.RawMessage(v.Content),
		CreatedMS:   v.CreatedMS,
		ModifiedMS:  v.ModifiedMS,
	}
	if v.Answers != "" {
		r.Answers = json.RawMessage(v.Answers)
	}
	return r
}

// addConfig adds a config with the versions of its prompt and tools, which it names from then on even if it named the
// newest, and with its saved voice. Tools of plugins are not in the database: the box needs the plugin.
func (h *Hub) addConfig(ctx context.Context, account store.Account, v store.Version, to *fleet.Account) error {
	var content contract.PostedConfigVersion
	if err := json.Unmarshal([]byte(v.Content), &content); err != nil {
		return fmt.Errorf("config %s: %w", v.ID, err)
	}
	var refs []store.Ref
	ref := func(kind store.Kind, id string, number *int) store.Ref {
		r := store.Ref{Kind: kind, ID: id, Version: store.Newest}
		if number != nil {
			r.Version = *number
		}
		refs = append(refs, r)
		return r
	}
	if content.Prompt != nil {
		ref(store.KindPrompt, content.Prompt.ID, content.Prompt.Version)
	}
	for _, t := range content.Tools {
		ref(store.KindTool, t.ID, t.Version)
	}
	found, err := h.Records.Resolve(ctx, account.ID, refs)
	if err != nil {
		return err
	}
	numbers := map[string]int{}
	for _, r := range refs {
		used, ok := found[r]
		if !ok {
			continue
		}
		numbers[r.ID] = used.Number
		if r.Kind == store.KindPrompt {
			to.Prompts = append(to.Prompts, resource(used))
		} else {
			to.Tools = append(to.Tools, resource(used))
		}
	}
	if content.Voice != nil {
		voice, err := h.Records.Voice(ctx, account.ID, content.Voice.ID, content.Voice.Name)
		if err == nil {
			to.Voices = []fleet.Voice{savedVoice(voice)}
		} else if !errors.Is(err, store.ErrNotFound) { // it is one of the library
			return err
		}
	}
	config := resource(v)
	if config.Content, err = withNumbers([]byte(v.Content), numbers); err != nil {
		return fmt.Errorf("config %s: %w", v.ID, err)
	}
	to.Configs = []fleet.Resource{config}
	return nil
}

// withNumbers returns the content of a config that names the versions of its prompt and tools. Other fields stay as
// they are, also those that this version of the hub does not know.
func withNumbers(content []byte, numbers map[string]int) ([]byte, error) {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(content, &all); err != nil {
		return nil, err
	}
	if raw, ok := all["prompt"]; ok && !bytes.Equal(raw, []byte("null")) {
		one, err := withNumber(raw, numbers)
		if err != nil {
			return nil, err
		}
		all["prompt"] = one
	}
	if raw, ok := all["tools"]; ok {
		var tools []json.RawMessage
		if err := json.Unmarshal(raw, &tools); err != nil {
			return nil, err
		}
		for i := range tools {
			var err error
			if tools[i], err = withNumber(tools[i], numbers); err != nil {
				return nil, err
			}
		}
		list, err := json.Marshal(tools)
		if err != nil {
			return nil, err
		}
		all["tools"] = list
	}
	return json.Marshal(all)
}

func withNumber(raw json.RawMessage, numbers map[string]int) (json.RawMessage, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil {
		return nil, err
	}
	var id string
	if err := json.Unmarshal(fields["id"], &id); err != nil {
		return raw, nil //nolint:nilerr // it names nothing that has versions
	}
	number, ok := numbers[id]
	if !ok {
		return raw, nil
	}
	fields["version"] = json.RawMessage(strconv.Itoa(number))
	return json.Marshal(fields)
}

func savedVoice(v store.Voice) fleet.Voice {
	return fleet.Voice{ID: v.ID, Name: v.Name, Recipe: json.RawMessage(v.Recipe)}
}

func (h *Hub) pinVoice(ctx context.Context, account store.Account, item contract.FleetItem) (pinned, error) {
	v, err := h.Records.Voice(ctx, account.ID, item.ID, item.Name)
	if errors.Is(err, store.ErrNotFound) {
		return pinned{}, contract.ErrNotFound{What: "saved voice", ID: item.ID + item.Name, Field: "item"}
	}
	return pinned{
		key:     itemKey{string(contract.FleetVoice), account.Name, v.ID},
		name:    v.Name,
		version: -1,
		part:    fleet.Want{Accounts: []fleet.Account{{Name: account.Name, Voices: []fleet.Voice{savedVoice(v)}}}},
	}, err
}

func (h *Hub) pinLexicon(ctx context.Context, account store.Account) (pinned, error) {
	all, err := h.Records.Lexicon(ctx, account.ID)
	words := make(map[string]string, len(all))
	for _, p := range all {
		words[p.Word] = p.Spoken
	}
	return pinned{
		key:     itemKey{kind: string(contract.FleetLexicon), account: account.Name},
		name:    account.Name,
		version: -1,
		content: fmt.Sprintf("%d words", len(words)),
		part:    fleet.Want{Accounts: []fleet.Account{{Name: account.Name, Lexicon: words}}},
	}, err
}

func (h *Hub) pinPlugin(ctx context.Context, item contract.FleetItem) (pinned, error) {
	name := named(store.Account{}, item).name
	p, file, err := h.Plugins.Plugin(ctx, name)
	if err != nil {
		return pinned{}, err
	}
	there, err := h.Bus.HasPlugin(ctx, p.SHA256)
	if err == nil && !there {
		err = h.Bus.PutPlugin(ctx, p.SHA256, bytes.NewReader(file))
	}
	if err != nil {
		return pinned{}, contract.ErrUnavailable{Why: "the plugin cannot be put on the NATS server: " + err.Error(),
			RetryAfter: retryAfter}
	}
	return pinned{
		key:     itemKey{kind: string(contract.FleetPlugin), item: p.Name},
		name:    p.Name,
		version: -1,
		content: "version " + p.Version,
		part:    fleet.Want{Plugins: []fleet.Plugin{p}},
	}, nil
}

func (h *Hub) pinSetting(item contract.FleetItem, value string) (pinned, error) {
	p := named(store.Account{}, item)
	if err := h.CheckSetting(p.name, value); err != nil {
		return pinned{}, contract.ErrInvalid{Field: "item.name", Why: err.Error()}
	}
	p.content, p.part.Settings = value, map[string]string{p.name: value}
	return p, nil
}
