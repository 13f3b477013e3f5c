package analysis

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"parley/appliance/expression"
)

const (
	// maxSpeakers bounds the speakers of a recording. Voices that differ less than the two
	// most similar of ten are not told apart reliably.
	maxSpeakers = 10
	// longEnough is how long an utterance must be to form a speaker, in seconds. A shorter one
	// depends on its words more than on its voice, and joins the nearest speaker.
	longEnough = 1.5
	// maxCompared bounds the utterances that are compared each with each, the longest of the
	// recording: 300 take a tenth of a second. The others join the nearest speaker.
	maxCompared = 300
	// temper divides the evidence for a speaker before it becomes a probability: voices are
	// not quite normal, and the evidence exaggerates.
	temper = 6
)

// voicePrint is a voice in a space in which the utterances of one speaker deviate from
// their mean by 1 in every direction.
type voicePrint expression.Timbre

// speakerModel is what voices were measured to be like, by expression/train/speakers.py.
// Within a speaker they deviate by 1, and between speakers by the square root of Between;
// both are taken as normal distributions (PLDA). Shared, Usual and Merge were chosen on the
// people whom the rest was trained on, in three parts, each with a model of the other two.
type speakerModel struct {
	Mean    expression.Timbre   `json:"mean"`
	Whiten  []expression.Timbre `json:"whiten"` // rows
	Between voicePrint          `json:"between"`
	// Shared is the correlation of the prints of a speaker in one recording: mood and
	// microphone stay.
	Shared float64 `json:"shared"`
	// Usual is the mean square by which a print usually deviates in each direction from the
	// one most similar to it.
	Usual float64 `json:"usual"`
	// Merge is the least evidence for one speaker, a logarithm of a ratio of likelihoods, at
	// which two groups of utterances are joined.
	Merge float64 `json:"merge"`
}

//go:embed weights/speakers.json
var speakerWeights []byte

// speakers tells the speakers of one recording apart.
type speakers struct {
	model   speakerModel
	prints  []voicePrint
	seconds []float64
}

func newSpeakers() (*speakers, error) {
	s := &speakers{}
	if err := json.Unmarshal(speakerWeights, &s.model); err != nil {
		return nil, fmt.Errorf("the model of speakers: %w", err)
	}
	return s, nil
}

// add adds the next utterance. enough says whether it had enough voice for its timbre.
func (s *speakers) add(t expression.Timbre, enough bool, seconds float64) {
	if !enough {
		seconds = 0
	}
	s.prints, s.seconds = append(s.prints, s.model.printOf(t)), append(s.seconds, seconds)
}

// tell returns the speaker of each utterance, counted from 0 in the order of appearance,
// and how likely that is, 0 to 1. An utterance without enough voice is of the speaker
// before it, with confidence 0.
func (s *speakers) tell() (speaker []int, confidence []float64) {
	return s.model.cluster(s.prints, s.seconds)
}

func (m *speakerModel) printOf(t expression.Timbre) (p voicePrint) {
	for i, row := range m.Whiten {
		for k, w := range row {
			p[i] += w * (t[k] - m.Mean[k])
		}
	}
	return p
}

// voiceGroup is a group of utterances that are taken to be of one speaker.
type voiceGroup struct {
	sum     voicePrint // of the prints
	members []int
}

// likeness is what a group of prints tells about the voice of its speaker: as much as n
// independent prints with this sum.
type likeness struct {
	sum voicePrint
	n   float64
}

// likeness returns what n prints with a sum tell. The prints of a recording are not
// independent: their correlation is Shared.
func (m *speakerModel) likeness(sum voicePrint, n int) likeness {
	if n == 0 {
		return likeness{}
	}
	each := 1 / (1 + float64(n-1)*m.Shared)
	for i := range sum {
		sum[i] *= each
	}
	return likeness{sum, float64(n) * each}
}

func (m *speakerModel) of(g *voiceGroup) likeness { return m.likeness(g.sum, len(g.members)) }

// evidence returns the logarithm of the likelihood that the prints of a group are of one
// speaker, up to terms that are the same for every grouping of the prints.
func (m *speakerModel) evidence(a likeness) (e float64) {
	for i, b := range m.Between {
		e += (a.sum[i]*a.sum[i]*b/(1+a.n*b) - math.Log1p(a.n*b)) / 2
	}
	return e
}

// added returns the evidence for one speaker of two groups over that for the first alone.
func (m *speakerModel) added(a, b likeness) float64 {
	both := likeness{a.sum, a.n + b.n}
	for i, v := range b.sum {
		both.sum[i] += v
	}
	return m.evidence(both) - m.evidence(a)
}

// joined returns the evidence for one speaker of two groups over that for two speakers.
func (m *speakerModel) joined(a, b *voiceGroup) float64 {
	return m.added(m.of(a), m.of(b)) - m.evidence(m.of(b))
}

// cluster implements speakers.tell. An utterance of 0 seconds has no print.
func (m *speakerModel) cluster(prints []voicePrint, seconds []float64) (speaker []int, confidence []float64) {
	which := core(seconds)
	prints = m.spread(prints, which)
	groups := m.groups(prints, which)
	speaker, confidence = make([]int, len(prints)), make([]float64, len(prints))
	of := map[int]int{} // group of each member
	for g := range groups {
		for _, i := range groups[g].members {
			of[i] = g
		}
	}
	for i := range prints {
		if seconds[i] <= 0 || len(groups) == 0 {
			speaker[i] = -1
			continue
		}
		g, member := of[i]
		if !member {
			g = -1
		}
		speaker[i], confidence[i] = m.nearest(groups, &prints[i], g)
		confidence[i] *= min(1, seconds[i]/longEnough)
	}
	return numbered(speaker), confidence
}

// core returns the utterances that form the speakers: those that are long enough, or all
// with a print if there are none.
func core(seconds []float64) []int {
	var long []int
	for _, least := range []float64{longEnough, math.SmallestNonzeroFloat64} {
		for i, s := range seconds {
			if s >= least {
				long = append(long, i)
			}
		}
		if len(long) > 0 {
			break
		}
	}
	slices.SortStableFunc(long, func(a, b int) int { return cmp.Compare(seconds[b], seconds[a]) })
	return long[:min(len(long), maxCompared)]
}

// maxSpread bounds how much the prints of a recording are spread.
const maxSpread = 2

// spread moves prints away from the mean of which if these lie closer together than usual:
// noise, and the narrow band of a telephone, make all voices more alike. It leaves prints
// that lie further apart as they are.
func (m *speakerModel) spread(prints []voicePrint, which []int) []voicePrint {
	if len(which) < 4 {
		return prints
	}
	var mean voicePrint
	nearest := make([]float64, len(which)) // squares of distances
	for n, i := range which {
		nearest[n] = math.Inf(1)
		for k, v := range prints[i] {
			mean[k] += v / float64(len(which))
		}
		for _, j := range which {
			if d := distance(&prints[i], &prints[j]); j != i && d < nearest[n] {
				nearest[n] = d
			}
		}
	}
	slices.Sort(nearest)
	typical := nearest[len(nearest)/2] / float64(len(mean))
	factor := min(max(math.Sqrt(m.Usual/max(typical, 1e-9)), 1), maxSpread)
	spread := make([]voicePrint, len(prints))
	for i, p := range prints {
		for k, v := range p {
			spread[i][k] = mean[k] + factor*(v-mean[k])
		}
	}
	return spread
}

// distance returns the square of the distance of two prints.
func distance(a, b *voicePrint) (d float64) {
	for i, v := range a {
		d += (v - b[i]) * (v - b[i])
	}
	return d
}

// groups joins the two groups with the most evidence for one speaker, again and again,
// from one group an utterance.
func (m *speakerModel) groups(prints []voicePrint, which []int) []voiceGroup {
	groups := make([]voiceGroup, len(which))
	for g, i := range which {
		groups[g] = voiceGroup{prints[i], []int{i}}
	}
	gain := make([][]float64, len(groups)) // gain[a][b], b < a
	for a := range groups {
		gain[a] = make([]float64, a)
		for b := range a {
			gain[a][b] = m.joined(&groups[a], &groups[b])
		}
	}
	for len(groups) > 1 {
		a, b := 1, 0
		for i := range gain {
			for k, g := range gain[i] {
				if g > gain[a][b] {
					a, b = i, k
				}
			}
		}
		if gain[a][b] < m.Merge && len(groups) <= maxSpeakers {
			break
		}
		m.join(groups, gain, a, b)
		groups, gain = groups[:len(groups)-1], gain[:len(groups)-1]
	}
	return groups
}

// join moves the group a to b < a, and the last group to a.
func (m *speakerModel) join(groups []voiceGroup, gain [][]float64, a, b int) {
	to, from, last := &groups[b], &groups[a], len(groups)-1
	for i, v := range from.sum {
		to.sum[i] += v
	}
	to.members = append(to.members, from.members...)
	groups[a] = groups[last]
	for k := range last {
		if k != a && a < last {
			gain[max(a, k)][min(a, k)] = gain[last][k]
		}
	}
	for k := range last {
		if k != b {
			gain[max(b, k)][min(b, k)] = m.joined(&groups[b], &groups[k])
		}
	}
}

// nearest returns the group that most likely contains the print, and its probability. If
// the print is in group own, its group is that one. The alternative to the groups is a
// speaker who says nothing else.
func (m *speakerModel) nearest(groups []voiceGroup, p *voicePrint, own int) (best int, probability float64) {
	one := likeness{*p, 1}
	stranger := m.evidence(one) + m.Merge
	all := make([]float64, len(groups), len(groups)+1)
	for g := range groups {
		sum, n := groups[g].sum, len(groups[g].members)
		if g == own {
			n--
			for i, v := range p {
				sum[i] -= v
			}
		}
		if n == 0 {
			all[g], stranger = stranger, math.Inf(-1)
			continue
		}
		all[g] = m.added(m.likeness(sum, n), one)
	}
	for g := range all {
		if all[g] > all[best] {
			best = g
		}
	}
	if own >= 0 {
		best = own
	}
	total := 0.0
	for _, e := range append(all, stranger) {
		total += math.Exp((e - all[best]) / temper)
	}
	return best, 1 / total
}

// numbered numbers speakers in the order of appearance. An utterance of speaker -1 is of
// the one before it, or of the first.
func numbered(speaker []int) []int {
	numbers := map[int]int{}
	last := 0
	for i, s := range speaker {
		if s >= 0 {
			n, ok := numbers[s]
			if !ok {
				n = len(numbers)
				numbers[s] = n
			}
			last = n
		}
		speaker[i] = last
	}
	return speaker
}
