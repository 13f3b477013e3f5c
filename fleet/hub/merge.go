package hub

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"maps"
	"slices"

	"parley/fleet"
)

// merger puts the parts of what a box is to run together, in an order that depends on nothing but these parts.
type merger struct {
	hub      string
	accounts map[string]*mergedAccount
	plugins  map[string]fleet.Plugin
	settings map[string]string
}

type mergedAccount struct {
	keys                    map[string]fleet.Key
	prompts, tools, configs map[version]fleet.Resource
	voices                  map[string]fleet.Voice
	lexicon                 map[string]string
}

type version struct {
	id     string
	number int
}

func newMerger(common fleet.Want) *merger {
	m := &merger{
		hub:      common.Hub,
		accounts: map[string]*mergedAccount{},
		plugins:  map[string]fleet.Plugin{},
		settings: map[string]string{},
	}
	m.add(common)
	return m
}

// add adds a part. Of a voice, a plugin, a lexicon or a setting that is there, the later part counts. Several versions
// of a prompt or tool stay: configs name the version that they use.
func (m *merger) add(part fleet.Want) {
	for _, a := range part.Accounts {
		to := m.accounts[a.Name]
		if to == nil {
			to = &mergedAccount{
				keys:    map[string]fleet.Key{},
				prompts: map[version]fleet.Resource{},
				tools:   map[version]fleet.Resource{},
				configs: map[version]fleet.Resource{},
				voices:  map[string]fleet.Voice{},
			}
			m.accounts[a.Name] = to
		}
		for _, k := range a.Keys {
			to.keys[k.ID] = k
		}
		addResources(to.prompts, a.Prompts)
		addResources(to.tools, a.Tools)
		addResources(to.configs, a.Configs)
		for _, v := range a.Voices {
			to.voices[v.ID] = v
		}
		if a.Lexicon != nil {
			to.lexicon = a.Lexicon
		}
	}
	for _, p := range part.Plugins {
		m.plugins[p.Name] = p
	}
	maps.Copy(m.settings, part.Settings)
}

func addResources(to map[version]fleet.Resource, all []fleet.Resource) {
	for _, r := range all {
		to[version{r.ID, r.Version}] = r
	}
}

// want returns all parts together, without a revision.
func (m *merger) want() fleet.Want {
	w := fleet.Want{Hub: m.hub, Settings: m.settings}
	for _, name := range slices.Sorted(maps.Keys(m.accounts)) {
		a := m.accounts[name]
		one := fleet.Account{
			Name:    name,
			Prompts: inOrder(a.prompts),
			Tools:   inOrder(a.tools),
			Configs: inOrder(a.configs),
			Lexicon: a.lexicon,
		}
		for _, id := range slices.Sorted(maps.Keys(a.keys)) {
			one.Keys = append(one.Keys, a.keys[id])
		}
		for _, id := range slices.Sorted(maps.Keys(a.voices)) {
			one.Voices = append(one.Voices, a.voices[id])
		}
		w.Accounts = append(w.Accounts, one)
	}
	for _, name := range slices.Sorted(maps.Keys(m.plugins)) {
		w.Plugins = append(w.Plugins, m.plugins[name])
	}
	return w
}

func inOrder(all map[version]fleet.Resource) []fleet.Resource {
	return slices.SortedFunc(maps.Values(all), func(a, b fleet.Resource) int {
		return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.Version, b.Version))
	})
}

// packBody returns a part as the database stores it.
func packBody(part fleet.Want) ([]byte, error) {
	var b bytes.Buffer
	packed := gzip.NewWriter(&b)
	if err := json.NewEncoder(packed).Encode(part); err != nil {
		return nil, err
	}
	err := packed.Close()
	return b.Bytes(), err
}

func unpackBody(body []byte) (part fleet.Want, err error) {
	packed, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		return part, err
	}
	return part, json.NewDecoder(packed).Decode(&part)
}
