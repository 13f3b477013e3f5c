package answers

import (
	"context"
	"fmt"
	"time"

	"parley/appliance/engine"
)

const (
	// fillAtOnce is the number of texts that are embedded before they are stored and used: about 0.2 s of one core.
	fillAtOnce = 64
	// fillSoon is the number of texts that are embedded before the other work that nobody waits for, such as sound
	// that is made ahead: the answers of a config of usual size, or the first ways of all items. It delays the turns
	// of chats by 0.8 s of one core in all.
	fillSoon = 256
)

// fill loads the stored vectors of a set, and embeds and stores the others. What fails is logged.
func (s *Set) fill(ctx context.Context) {
	defer s.stop(nil)
	defer close(s.filled)
	log := s.finder.parts.Log
	begun := time.Now()
	missing := s.load(ctx)
	close(s.loaded)
	s.noteUse(ctx)
	if len(missing) == 0 {
		return
	}
	if s.err = s.embedMissing(ctx, missing); s.err != nil {
		if ctx.Err() == nil {
			log.Error("cannot embed the ways of asking of approved answers; questions are compared with a part of them",
				"err", s.err, "items", len(s.Answers.Items))
		}
		return
	}
	log.Info("embedded ways of asking of approved answers", "texts", len(missing), "of", len(s.keys),
		"ms", time.Since(begun).Milliseconds())
}

// missingText is a text without a vector, and all its ways.
type missingText struct {
	key  int64
	text string
	ways []int
}

// load sets the stored vectors, and returns the texts that have none: first the first ways of all items, then what they
// say, then the second ways, and so on.
func (s *Set) load(ctx context.Context) []*missingText {
	byKey := map[int64]*missingText{}
	var texts []*missingText
	add := func(way int, text string) {
		m := byKey[s.keys[way]]
		if m == nil {
			m = &missingText{key: s.keys[way], text: text}
			byKey[m.key] = m
			texts = append(texts, m)
		}
		m.ways = append(m.ways, way)
	}
	for place, more := 0, true; more; place++ {
		more = false
		for i, item := range s.Answers.Items {
			if place < len(item.Ask) {
				more = true
				add(s.vectors.begins[i]+place, item.Ask[place])
			}
		}
		if place == 0 {
			for i, item := range s.Answers.Items {
				if item.Say == "" {
					continue // the background says nothing
				}
				add(s.vectors.begins[len(s.Answers.Items)]+i, item.Say)
			}
		}
	}
	s.loadStored(ctx, byKey)
	missing := texts[:0]
	for _, m := range texts {
		if !s.vectors.has(m.ways[0]) {
			missing = append(missing, m)
		}
	}
	return missing
}

// loadStored sets the vectors that are stored. Without the store all are embedded again.
func (s *Set) loadStored(ctx context.Context, byKey map[int64]*missingText) {
	p := s.finder.parts
	if p.Vectors == nil {
		return
	}
	err := p.Vectors.AnswerVectors(ctx, s.keys, func(key int64, vector []byte) {
		m := byKey[key]
		if v, ok := unpack(vector); ok && m != nil {
			for _, way := range m.ways {
				s.vectors.set(way, v)
			}
		}
	})
	if err != nil && ctx.Err() == nil {
		p.Log.Warn("cannot load the vectors of approved answers; they are computed again", "err", err)
	}
}

// noteUse notes that the stored vectors are in use, so that they are not deleted.
func (s *Set) noteUse(ctx context.Context) {
	p := s.finder.parts
	if p.Vectors == nil {
		return
	}
	if err := p.Vectors.UseAnswerVectors(ctx, s.keys, time.Now().UnixMilli()); err != nil && ctx.Err() == nil {
		p.Log.Warn("cannot note the use of the vectors of approved answers", "err", err)
	}
}

// embedMissing embeds texts in order: the first ones with the urgency of engine.Prefetch, the others with that of
// engine.Batch, or all with that of a request while somebody waits for them.
func (s *Set) embedMissing(ctx context.Context, missing []*missingText) error {
	urgency := engine.Prefetch.Urgency()
	soon := fillSoon
	for len(missing) > 0 {
		part := missing[:min(len(missing), fillAtOnce)]
		missing = missing[len(part):]
		texts := make([]string, len(part))
		for i, m := range part {
			texts[i] = m.text
		}
		switch {
		case s.hurry.Load() > 0:
			urgency.Set(engine.Request, time.Time{}) // due from now on: long work stays behind other requests
		case soon > 0:
			urgency.Set(engine.Prefetch, time.Time{})
		default:
			urgency.Set(engine.Batch, time.Time{})
		}
		soon -= len(part)
		embedded, err := s.embedder.Embed(ctx, texts, urgency)
		if err != nil {
			if cause := context.Cause(ctx); cause != nil {
				err = cause
			}
			return fmt.Errorf("answers: %w", err)
		}
		s.add(ctx, part, embedded)
	}
	return nil
}

// add sets and stores vectors.
func (s *Set) add(ctx context.Context, texts []*missingText, embedded [][]float32) {
	stored := map[int64][]byte{}
	for i, m := range texts {
		v := pack(embedded[i])
		for _, way := range m.ways {
			s.vectors.set(way, v)
		}
		stored[m.key] = v.bytes()
	}
	p := s.finder.parts
	if p.Vectors == nil {
		return
	}
	if err := p.Vectors.AddAnswerVectors(ctx, stored, time.Now().UnixMilli()); err != nil && ctx.Err() == nil {
		p.Log.Warn("cannot store vectors of approved answers; they are computed again after a restart", "err", err)
	}
}
