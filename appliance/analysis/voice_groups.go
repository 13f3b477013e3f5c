package analysis

import (
	"math"
	"slices"
)

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
func (m *speakerModel) evidence(a likeness) float64 {
	square, product := 0.0, 1.0
	for i, b := range m.Between {
		variance := 1 + a.n*b
		square += a.sum[i] * a.sum[i] * b / variance
		product *= variance
	}
	return (square - math.Log(product)) / 2
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
