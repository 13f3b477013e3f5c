package expression

import (
	"math"
	"slices"
)

// features describe a sound by name, as train/features.py does.
type features map[string]float64

// describe computes the features of at least one frame.
func describe(frames []frame) features {
	frames = trimmed(frames)
	loudest := 0.0
	for _, f := range frames {
		loudest = max(loudest, f.peak)
	}
	v := voiceOf(frames, pitchPath(frames, loudest))
	o := features{}
	o.pitch(v)
	o.loudness(frames, v)
	o.spectrum(frames, v)
	o.cepstrum(frames, v)
	o.throat(frames, v)
	o.timing(frames, v)
	return o
}

// voicing holds which frames have voice, and its pitch.
type voicing struct {
	path     []int
	voiced   []bool
	semitone []float64 // above 27.5 Hz; 0 without voice
	hz       []float64
	segments [][2]int // runs of three or more voiced frames
	active   []bool   // within 30 dB of the loudest frame
}

func voiceOf(frames []frame, path []int) voicing {
	v := voicing{
		path:     path,
		voiced:   make([]bool, len(path)),
		semitone: make([]float64, len(path)),
		hz:       make([]float64, len(path)),
		active:   make([]bool, len(path)),
	}
	loudest := math.Inf(-1)
	for i, p := range path {
		loudest = max(loudest, frames[i].db)
		if v.voiced[i] = p != noPitch; v.voiced[i] {
			v.hz[i] = frames[i].pitch.hz[p]
			v.semitone[i] = 12 * math.Log2(v.hz[i]/27.5)
		}
	}
	for i := range frames {
		v.active[i] = frames[i].db > loudest-30
	}
	for _, run := range runs(v.voiced, true) {
		if run[1]-run[0] >= 3 {
			v.segments = append(v.segments, run)
		}
	}
	return v
}

// runs returns the ranges [from, to) in which list has the value what.
func runs(list []bool, what bool) (out [][2]int) {
	for i := 0; i < len(list); i++ {
		if list[i] != what {
			continue
		}
		from := i
		for i < len(list) && list[i] == what {
			i++
		}
		out = append(out, [2]int{from, i})
	}
	return out
}

func (fs features) pitch(v voicing) {
	voiced := selected(v.semitone, v.voiced)
	fs.addPercentiles("f0", voiced)
	var rises, falls, slopes, steep, jitter []float64
	for _, s := range v.segments {
		smooth := smoothed(v.semitone[s[0]:s[1]])
		for i := range smooth[1:] {
			switch d := (smooth[i+1] - smooth[i]) * 100; {
			case d > 0:
				rises = append(rises, d)
			case d < 0:
				falls = append(falls, d)
			}
		}
		seconds := make([]float64, s[1]-s[0])
		for i := range seconds {
			seconds[i] = float64(i) * 0.01
		}
		slope := lineOf(seconds, v.semitone[s[0]:s[1]])
		slopes, steep = append(slopes, slope), append(steep, math.Abs(slope))
		for i := s[0] + 1; i < s[1]-1; i++ {
			jitter = append(jitter, math.Abs(1/v.hz[i+1]-2/v.hz[i]+1/v.hz[i-1])*v.hz[i])
		}
	}
	fs["f0_rise"], fs["f0_fall"] = mean(rises), mean(falls)
	fs["f0_reg"], fs["f0_absreg"], fs["jit"] = mean(slopes), mean(steep), mean(jitter)
	fs["f0_trend"] = 0
	if len(voiced) > 5 {
		var seconds []float64
		for i, isVoiced := range v.voiced {
			if isVoiced {
				seconds = append(seconds, float64(i)*0.01)
			}
		}
		fs["f0_trend"] = lineOf(seconds, voiced)
	}
}

// smoothed returns the mean of each value and its neighbours.
func smoothed(v []float64) []float64 {
	out := make([]float64, len(v))
	for i := range v {
		out[i] = (v[max(0, i-1)] + v[i] + v[min(len(v)-1, i+1)]) / 3
	}
	return out
}

func (fs features) loudness(frames []frame, v voicing) {
	db, loud := column(frames, func(f *frame) float64 {
		return f.db
	}), column(frames, func(f *frame) float64 {
		return f.loud
	})
	var shimmer []float64
	for _, s := range v.segments {
		for i := s[0] + 1; i < s[1]; i++ {
			shimmer = append(shimmer, math.Abs(db[i]-db[i-1]))
		}
	}
	fs["shim"] = mean(shimmer)
	usual := mean(loud) + 1e-9
	var rises, falls []float64
	peaks := 0
	for i := range loud {
		loud[i] /= usual
		if i == 0 {
			continue
		}
		switch d := (loud[i] - loud[i-1]) * 100; {
		case d > 0:
			rises = append(rises, d)
		case d < 0:
			falls = append(falls, d)
		}
		if i > 1 && loud[i-1] > loud[i-2] && loud[i-1] >= loud[i] && loud[i-1] > 1 {
			peaks++
		}
	}
	fs.addPercentiles("lrel", loud)
	fs["lrel_mean"] = 1 // anything else would depend on the gain
	fs["lrel_rise"], fs["lrel_fall"] = mean(rises), mean(falls)
	fs["loud_pk"] = float64(peaks) / seconds(frames)
	active := selected(db, v.active)
	fs["db_std"] = deviation(active)
	slices.Sort(active)
	fs["db_rng"] = percentile(active, 95) - percentile(active, 5)
}

func (fs features) spectrum(frames []frame, v voicing) {
	silent := make([]bool, len(frames)) // frames with sound but without voice
	for i := range silent {
		silent[i] = v.active[i] && !v.voiced[i]
	}
	for name, of := range map[string]func(*frame) float64{
		"alpha": func(f *frame) float64 { return f.alpha }, "hamm": func(f *frame) float64 { return f.hamm },
		"s0": func(f *frame) float64 { return f.slope[0] }, "s1": func(f *frame) float64 { return f.slope[1] },
		"cen": func(f *frame) float64 { return f.centre }, "spread": func(f *frame) float64 { return f.spread },
		"roll": func(f *frame) float64 { return f.rolloff }, "flux": func(f *frame) float64 { return f.flux },
		"ent": func(f *frame) float64 { return f.entropy },
	} {
		values := column(frames, of)
		if name == "flux" {
			values[0] = 0 // there is no frame before it
		}
		fs.addMoments(name+"V", selected(values, v.voiced))
		fs[name+"U"] = mean(selected(values, silent))
	}
}

func (fs features) cepstrum(frames []frame, v voicing) {
	for k := range cepstra {
		values := column(frames, func(f *frame) float64 { return f.cepstrum[k] })
		fs.addMoments(number("c", k)+"V", selected(values, v.voiced))
		fs.addMoments(number("c", k)+"A", selected(values, v.active))
		change := make([]float64, len(values))
		if len(values) > 4 {
			for i := 2; i < len(values)-2; i++ {
				change[i] = (2*(values[i+2]-values[i-2]) + values[i+1] - values[i-1]) / 10
			}
		}
		fs[number("d", k)] = deviation(selected(change, v.active))
	}
}

func number(name string, k int) string {
	if k < 10 {
		return name + string(rune('0'+k))
	}
	return name + "1" + string(rune('0'+k-10))
}

// throat describes how the voice is produced: its harmonics and resonances.
func (fs features) throat(frames []frame, v voicing) {
	var ratio, first, formed []float64
	var formants [4][]float64
	n := 0
	for i := range frames {
		if !v.voiced[i] {
			continue
		}
		p, chosen := &frames[i].pitch, v.path[i]
		ratio = append(ratio, harmonicity(p.strength[chosen]))
		first, formed = append(first, p.first[chosen]), append(formed, p.overFormed[chosen])
		if n%2 == 0 && frames[i].formed {
			for k, hz := range frames[i].formants {
				formants[k] = append(formants[k], hz)
			}
		}
		n++
	}
	fs.addMoments("hnr", ratio)
	fs.addMoments("h12", first)
	fs.addMoments("h1a3", formed)
	for k, name := range [...]string{"F1", "F2", "F3", "B1"} {
		fs.addMoments(name, formants[k])
	}
}

// harmonicity converts a correlation into the ratio of harmonics to noise, in dB.
func harmonicity(strength float64) float64 {
	r := min(max(strength, 1e-3), 0.999)
	return 10 * math.Log10(r/(1-r))
}

func (fs features) timing(frames []frame, v voicing) {
	length := func(list [][2]int) []float64 {
		var out []float64
		for _, s := range list {
			out = append(out, float64(s[1]-s[0])*0.01)
		}
		return out
	}
	fs["rate"] = float64(syllables(frames, v.voiced)) / seconds(frames)
	fs["vsegs"] = float64(len(v.segments)) / seconds(frames)
	fs["vfrac"] = share(v.voiced)
	// not used by the model: how much there is to judge
	fs["voiced"] = math.Round(share(v.voiced) * float64(len(frames)))
	fs["pause"] = 1 - share(v.active)
	fs.addMoments("vl", length(v.segments))
	fs.addMoments("ul", length(runs(v.voiced, false)))
}

// syllables counts the voiced peaks of loudness that stand out by 2 dB.
func syllables(frames []frame, voiced []bool) (n int) {
	var kernel [7]float64
	var sum float64
	for i := range kernel {
		kernel[i] = 0.5 - 0.5*math.Cos(2*math.Pi*float64(i+1)/8)
		sum += kernel[i]
	}
	smooth := make([]float64, len(frames))
	loudest := math.Inf(-1)
	for t := range smooth {
		for i, k := range kernel {
			smooth[t] += k / sum * frames[min(max(t+i-3, 0), len(frames)-1)].db
		}
		loudest = max(loudest, smooth[t])
	}
	lowest := math.Inf(1)
	for t := 1; t < len(smooth)-1; t++ {
		lowest = min(lowest, smooth[t])
		if smooth[t] > smooth[t-1] && smooth[t] >= smooth[t+1] && smooth[t] > loudest-25 && smooth[t]-lowest > 2 &&
			slices.Contains(voiced[max(0, t-2):min(len(voiced), t+3)], true) {
			n++
			lowest = smooth[t]
		}
	}
	return n
}

func seconds(frames []frame) float64 { return float64(len(frames)) * 0.01 }

func column(frames []frame, of func(*frame) float64) []float64 {
	out := make([]float64, len(frames))
	for i := range frames {
		out[i] = of(&frames[i])
	}
	return out
}

// selected returns the values whose entry in is is true.
func selected(values []float64, isVoiced []bool) []float64 {
	out := make([]float64, 0, len(values))
	for i, v := range values {
		if isVoiced[i] {
			out = append(out, v)
		}
	}
	return out
}

func share(isVoiced []bool) float64 {
	n := 0
	for _, yes := range isVoiced {
		if yes {
			n++
		}
	}
	return float64(n) / float64(len(isVoiced))
}

// addMoments stores mean and deviation of the values; addPercentiles also stores percentiles. Without values all are 0.
func (fs features) addMoments(name string, v []float64) {
	fs[name+"_mean"], fs[name+"_std"] = mean(v), deviation(v)
}

func (fs features) addPercentiles(name string, v []float64) {
	fs.addMoments(name, v)
	sorted := slices.Sorted(slices.Values(v))
	low, mid, high := percentile(sorted, 20), percentile(sorted, 50), percentile(sorted, 80)
	fs[name+"_p20"], fs[name+"_p50"], fs[name+"_p80"], fs[name+"_rng"] = low, mid, high, high-low
}

func mean(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	var sum float64
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v))
}

func deviation(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	m := mean(v)
	var sum float64
	for _, x := range v {
		sum += (x - m) * (x - m)
	}
	return math.Sqrt(sum / float64(len(v)))
}

// percentile returns a percentile of sorted values, interpolated linearly.
func percentile(sorted []float64, p float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	at := p / 100 * float64(len(sorted)-1)
	i := int(at)
	if i+1 == len(sorted) {
		return sorted[i]
	}
	return sorted[i] + (at-float64(i))*(sorted[i+1]-sorted[i])
}

// lineOf returns the slope of the least-squares line through points.
func lineOf(x, y []float64) float64 {
	mx, my := mean(x), mean(y)
	var cross, square float64
	for i := range x {
		cross += (x[i] - mx) * (y[i] - my)
		square += (x[i] - mx) * (x[i] - mx)
	}
	if square == 0 {
		return 0
	}
	return cross / square
}
