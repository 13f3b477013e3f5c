package stream

import (
	"cmp"
	"slices"
	"strings"

	"parley/appliance/analysis"
	"parley/appliance/contract"
	"parley/appliance/media"
)

// convert returns a report as the socket sends it: one list a model, without groups.
func (t *Session) convert(info media.Info, report analysis.Report) (out contract.StreamModelPredictions) {
	m, ran := report.Models, t.applicable(info)
	asked := ran
	if t.models != nil {
		asked = *t.models
	}
	c := converter{medium: info.Medium(), problems: report.Problems}
	out.Face = listOf(c.of(asked.Face != nil, ran.Face != nil, contract.StreamNoFaces), m.Face, face)
	out.Facemesh = listOf(c.of(asked.Facemesh != nil, ran.Facemesh != nil, contract.StreamNoFacemesh),
		m.Facemesh, func(_ string, p contract.FacemeshPrediction) contract.FacemeshPrediction { return p })
	out.Prosody = listOf(c.of(asked.Prosody != nil, ran.Prosody != nil, contract.StreamNoSpeech), m.Prosody, prosody)
	out.Language = listOf(c.of(asked.Language != nil, ran.Language != nil, contract.StreamNoLanguage), m.Language,
		language)
	out.Burst = listOf(c.of(asked.Burst != nil, ran.Burst != nil, contract.StreamNoBursts), m.Burst, burst)
	if out.Face != nil {
		slices.SortStableFunc(out.Face.Predictions,
			func(a, b contract.StreamFace) int { return cmp.Compare(a.Frame, b.Frame) })
	}
	if c.found == 0 {
		out.Warning, out.Code = c.warning, c.code
	}
	return out
}

// converter converts the predictions of each model.
type converter struct {
	medium   string
	problems []string

	// of the model that is converted next
	asked, ran bool
	none       contract.StreamCode // the warning if there are no predictions

	found   int // predictions of all models
	warning string
	code    contract.StreamCode // of the first warning
}

// of sets the model that is converted next.
func (c *converter) of(asked, ran bool, none contract.StreamCode) *converter {
	c.asked, c.ran, c.none = asked, ran, none
	return c
}

// listOf returns the predictions of a model of all groups, or why there are none. It is nil for a
// model that was not asked for.
func listOf[P, Q any](c *converter, m *contract.ModelPredictions[P], convert func(group string, p P) Q) (
	out *contract.StreamModel[Q]) {
	if !c.asked {
		return nil
	}
	out = &contract.StreamModel[Q]{Predictions: []Q{}}
	switch {
	case !c.ran:
		out.Error, out.Code = "this model does not apply to a "+c.medium, contract.StreamIncompatible
		return out
	case m == nil && len(c.problems) > 0:
		out.Error, out.Code = contract.ClipError(strings.Join(c.problems, "; ")), contract.StreamInternal
		return out
	case m != nil:
		for _, g := range m.GroupedPredictions {
			for _, p := range g.Predictions {
				out.Predictions = append(out.Predictions, convert(g.ID, p))
			}
		}
	}
	c.found += len(out.Predictions)
	if len(out.Predictions) == 0 {
		out.Warning, out.Code = warning(c.none)+c.medium, c.none
		c.warning, c.code = cmp.Or(c.warning, out.Warning), cmp.Or(c.code, out.Code)
	}
	return out
}

// warning returns what a warning says, up to the name of the medium.
func warning(code contract.StreamCode) string {
	switch code {
	case contract.StreamNoBursts:
		return "nothing on this box measures vocal bursts in a "
	case contract.StreamNoSpeech:
		return "there is no speech in the "
	case contract.StreamNoLanguage:
		return "there are no words in the "
	}
	return "there are no faces in the "
}

func face(group string, p contract.FacePrediction) contract.StreamFace {
	return contract.StreamFace{
		Frame:        p.Frame,
		Time:         p.Time,
		BBox:         p.Box,
		Prob:         p.Prob,
		FaceID:       group,
		Emotions:     p.Emotions,
		FACS:         p.FACS,
		Descriptions: p.Descriptions,
	}
}

func prosody(_ string, p contract.ProsodyPrediction) contract.StreamProsody {
	return contract.StreamProsody{Time: p.Time, Emotions: p.Emotions}
}

func burst(_ string, p contract.BurstPrediction) contract.StreamBurst {
	return contract.StreamBurst{Time: p.Time, Emotions: p.Emotions}
}

func language(_ string, p contract.LanguagePrediction) contract.StreamLanguage {
	return contract.StreamLanguage{
		Text:      p.Text,
		Position:  p.Position,
		Emotions:  p.Emotions,
		Sentiment: p.Sentiment,
		Toxicity:  p.Toxicity,
	}
}
