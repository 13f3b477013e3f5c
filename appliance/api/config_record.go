package api

import (
	"context"
	"errors"

	"parley/appliance/contract"
	"parley/store"
)

// Configs reads configs with the prompts and tools that they use. Callers share
// what its records point to and must not change it.
type Configs struct {
	records *store.Store
	cache   *versionCache
	plugins installedTools
}

// NewConfigs returns the configs of a store, which may use the tools of plugins.
// plugins may be nil.
func NewConfigs(records *store.Store, plugins Plugins) Configs {
	return Configs{records, newVersionCache(), installedTools{plugins}}
}

// Config returns a version of an account's config; nil means the newest. The
// error is a store.ErrNotFound if there is none.
func (c Configs) Config(ctx context.Context, account, id string, version *int) (contract.ReturnConfig, error) {
	v, err := c.records.VersionOf(ctx, account,
		store.Ref{Kind: store.KindConfig, ID: id, Version: versionOrNewest(version)})
	if err != nil {
		return contract.ReturnConfig{}, err
	}
	records, err := c.read(ctx, account, []store.Version{v})
	if err != nil {
		return contract.ReturnConfig{}, err
	}
	return records[0], nil
}

// read returns the records of versions. It reads all that they use in one query.
func (c Configs) read(ctx context.Context, account string, versions []store.Version) ([]contract.ReturnConfig, error) {
	posted := make([]contract.PostedConfigVersion, len(versions))
	var refs []store.Ref
	asked := map[store.Ref]bool{}
	for i, v := range versions {
		var err error
		if posted[i], err = c.cache.configs.parse(v); err != nil {
			return nil, err
		}
		for _, ref := range uses(posted[i]) {
			if !asked[ref] {
				asked[ref] = true
				refs = append(refs, ref)
			}
		}
	}
	found, err := c.records.Resolve(ctx, account, refs)
	if err != nil {
		return nil, err
	}
	used, err := c.readUsed(found)
	if err != nil {
		return nil, err
	}
	for _, ref := range refs {
		if t, ok := c.plugins.resolve(ref); ok {
			used.tools[ref] = t
		}
	}
	records := make([]contract.ReturnConfig, len(versions))
	answerBytes := 0
	for i, v := range versions {
		records[i] = configRecord(v, posted[i], used)
		if answerBytes += v.AnswersBytes; answerBytes > maxPageAnswers && answerBytes > v.AnswersBytes {
			answerBytes -= v.AnswersBytes
			records[i].AnswersOmitted = true
			continue
		}
		if records[i].Answers, err = c.answers(ctx, account, v); err != nil {
			return nil, err
		}
	}
	return records, nil
}

// maxPageAnswers bounds the approved answers of a page of configs together, in bytes; those of
// the first config are in the page even if they are longer. A hundred desks have 5 MB.
const maxPageAnswers = 8 << 20

// answers returns the approved answers of a version, or nil if it has none.
func (c Configs) answers(ctx context.Context, account string, v store.Version) (*contract.Answers, error) {
	if v.AnswersBytes == 0 {
		return nil, nil
	}
	text := v.Answers
	if text == "" { // v is of a list
		whole, err := c.records.VersionOf(ctx, account, store.Ref{Kind: v.Kind, ID: v.ID, Version: v.Number})
		if errors.Is(err, store.ErrNotFound) { // deleted since
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		text = whole.Answers
	}
	a, err := c.cache.answers.parseText(v, text)
	return &a, err
}

// usedRecords are the prompts and tools that configs use. Each is read once: the
// configs of a page often share them.
type usedRecords struct {
	prompts map[store.Ref]contract.ReturnPrompt
	tools   map[store.Ref]contract.ReturnUserDefinedTool
}

func (c Configs) readUsed(found map[store.Ref]store.Version) (u usedRecords, err error) {
	u = usedRecords{map[store.Ref]contract.ReturnPrompt{}, map[store.Ref]contract.ReturnUserDefinedTool{}}
	for ref, v := range found {
		switch ref.Kind {
		case store.KindPrompt:
			u.prompts[ref], err = c.cache.prompt(v)
		case store.KindTool:
			u.tools[ref], err = c.cache.tool(v)
		}
		if err != nil {
			return u, err
		}
	}
	return u, nil
}

// configRecord returns the record of a config, without the prompts and tools that
// were deleted.
func configRecord(v store.Version, posted contract.PostedConfigVersion, used usedRecords) contract.ReturnConfig {
	c := posted.Record()
	c.ID, c.Version, c.Name, c.VersionDescription = v.ID, v.Number, v.Name, v.Description
	c.CreatedOn, c.ModifiedOn = v.CreatedMS, v.ModifiedMS
	if posted.Voice != nil {
		c.Voice = &contract.ReturnVoice{ID: posted.Voice.ID, Name: posted.Voice.Name, Provider: posted.Voice.Provider}
	}
	if posted.Prompt != nil {
		if p, ok := used.prompts[promptRef(*posted.Prompt)]; ok {
			p.VersionType = versionType(posted.Prompt.Version)
			if posted.Prompt.PromptExpansion != nil {
				p.PromptExpansion = posted.Prompt.PromptExpansion
			}
			c.Prompt = &p
		}
	}
	for i, ref := range toolRefs(posted) {
		if t, ok := used.tools[ref]; ok {
			t.VersionType = versionType(posted.Tools[i].Version)
			c.Tools = append(c.Tools, t)
		}
	}
	return c
}

func versionType(version *int) contract.VersionType {
	if version == nil {
		return contract.VersionLatest
	}
	return contract.VersionFixed
}
