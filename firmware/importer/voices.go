package importer

import (
	"context"
	"errors"
	"fmt"

	"parley/appliance/contract"
)

// voice is a voice of the old service.
type voice struct {
	id, name, provider string
	used               bool // by a config
	file               int
}

func (v *voice) columns() []any { return []any{&v.id, &v.name, &v.provider, &v.used, &v.file} }

// voices finds for each voice of the old service the one that speaks for it. What made a
// cloned or designed voice sound as it did is gone with the service: another one stands in.
func (w *work) voices(ctx context.Context) error {
	all, err := rows(ctx, w.spool, (*voice).columns,
		`SELECT id, name, provider, used, file FROM voice ORDER BY name, id`)
	if err != nil {
		return err
	}
	unused := 0
	for _, v := range all {
		if v.provider != string(contract.VoiceCustom) && !v.used {
			unused++
			continue
		}
		if err := w.voice(ctx, v); err != nil {
			return err
		}
	}
	if unused > 0 {
		w.report.count(kindVoice).LeftOut += unused
		w.report.notef("%d voices of the old service's library, which no config uses, were left out: "+
			"parley voices alias shows which voices stand in for them.", unused)
	}
	return nil
}

// voice finds the voice that speaks for one of the old service, or gives it an alias.
func (w *work) voice(ctx context.Context, v voice) error {
	line := Line{Kind: kindVoice, ID: v.id, Name: v.name, File: w.files[v.file]}
	var names []string // that nothing speaks for
	for _, name := range []string{v.name, v.id} {
		if name == "" || len(names) > 0 && names[0] == name {
			continue
		}
		found, err := w.Voices.FindVoice(ctx, w.Account.ID, contract.VoiceRef{Name: name})
		if _, missing := errors.AsType[contract.ErrNotFound](err); missing {
			names = append(names, name)
		} else if err != nil {
			return err
		} else {
			line.To = found.Name
		}
	}
	if len(names) == 0 {
		w.report.count(kindVoice).Here++
		if line.To != v.name {
			line.Why = "stands in for it"
			w.report.mapped(line)
		}
		return nil
	}
	if line.To == "" {
		line.To = w.StandIn
	}
	return w.alias(ctx, line, names)
}

// alias lets a voice stand in for names that no voice has.
func (w *work) alias(ctx context.Context, line Line, names []string) error {
	found, err := w.Voices.FindVoice(ctx, w.Account.ID, contract.VoiceRef{Name: line.To})
	if err != nil {
		line.To, line.Why = "", fmt.Sprintf("the box has no voice that could stand in: %v", err)
		w.report.leftOut(line)
		return nil
	}
	line.To = found.Name
	for _, name := range names {
		if err := contract.CheckAliasedName(name); err != nil {
			line.To, line.Why = "", err.Error()
			w.report.leftOut(line)
			return nil
		}
		if !w.apply {
			continue
		}
		if _, err := w.Voices.SetAlias(ctx, name, line.To); err != nil {
			if _, full := errors.AsType[contract.ErrConflict](err); !full {
				return err
			}
			line.To, line.Why = "", err.Error()
			w.report.leftOut(line)
			return nil
		}
	}
	w.report.count(kindVoice).New++
	line.Why = fmt.Sprintf("an alias; another voice stands in with parley voices alias %q VOICE", names[0])
	w.report.mapped(line)
	return nil
}
