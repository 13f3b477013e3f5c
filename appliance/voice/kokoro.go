package voice

import "strings"

// Kokoro returns the voices of the Kokoro pack, under the names with which they were published.
// They can be blended with one another. Their pitch and its variation were measured on a
// sentence of their language (docs/measurements.md), Nicole's on several, since she whispers.
func Kokoro() []Base {
	var all []Base
	for _, v := range []struct {
		style, name, language string
		gender                Gender
		pitchHz, moves        float64
		sounds                []string
	}{
		{"af_alloy", "Alloy", "en-US", Female, 143, 3.5, nil},
		{"af_aoede", "Aoede", "en-US", Female, 182, 3.4, nil},
		{"af_bella", "Bella", "en-US", Female, 196, 2.4, nil},
		{"af_heart", "Heart", "en-US", Female, 198, 3, nil},
		{"af_jessica", "Jessica", "en-US", Female, 208, 3.3, nil},
		{"af_kore", "Kore", "en-US", Female, 150, 4.6, nil},
		{"af_nicole", "Nicole", "en-US", Female, 157, 6.9, []string{"whispering"}},
		{"af_nova", "Nova", "en-US", Female, 158, 3.4, nil},
		{"af_river", "River", "en-US", Female, 181, 2.6, nil},
		{"af_sarah", "Sarah", "en-US", Female, 189, 3.7, nil},
		{"af_sky", "Sky", "en-US", Female, 161, 3.6, nil},
		{"am_adam", "Adam", "en-US", Male, 116, 3.6, nil},
		{"am_echo", "Echo", "en-US", Male, 108, 4.3, nil},
		{"am_eric", "Eric", "en-US", Male, 151, 4.4, nil},
		{"am_fenrir", "Fenrir", "en-US", Male, 137, 4.6, nil},
		{"am_liam", "Liam", "en-US", Male, 120, 4.7, nil},
		{"am_michael", "Michael", "en-US", Male, 110, 3.1, nil},
		{"am_onyx", "Onyx", "en-US", Male, 92, 2.9, nil},
		{"am_puck", "Puck", "en-US", Male, 122, 4.4, nil},
		{"am_santa", "Santa", "en-US", Male, 157, 5, nil},
		{"bf_alice", "Alice", "en-GB", Female, 217, 4, nil},
		{"bf_emma", "Emma", "en-GB", Female, 183, 2.2, nil},
		{"bf_isabella", "Isabella", "en-GB", Female, 206, 2.2, nil},
		{"bf_lily", "Lily", "en-GB", Female, 191, 4.1, nil},
		{"bm_daniel", "Daniel", "en-GB", Male, 120, 3.2, nil},
		{"bm_fable", "Fable", "en-GB", Male, 124, 4.6, nil},
		{"bm_george", "George", "en-GB", Male, 142, 3.4, nil},
		{"bm_lewis", "Lewis", "en-GB", Male, 83, 3.6, nil},
		{"ef_dora", "Dora (Spanish)", "es", Female, 167, 3.8, nil},
		{"em_alex", "Alex (Spanish)", "es", Male, 125, 3.9, nil},
		{"em_santa", "Santa (Spanish)", "es", Male, 125, 4.8, nil},
		{"ff_siwis", "Siwis", "fr-FR", Female, 203, 3, nil},
		{"hf_alpha", "Alpha", "hi", Female, 204, 3.6, nil},
		{"hf_beta", "Beta", "hi", Female, 173, 3.5, nil},
		{"hm_omega", "Omega", "hi", Male, 126, 4.6, nil},
		{"hm_psi", "Psi", "hi", Male, 130, 4.3, nil},
		{"if_sara", "Sara", "it", Female, 215, 2.6, nil},
		{"im_nicola", "Nicola", "it", Male, 91, 2.6, nil},
		{"pf_dora", "Dora (Portuguese)", "pt-BR", Female, 163, 3.8, nil},
		{"pm_alex", "Alex (Portuguese)", "pt-BR", Male, 127, 3.9, nil},
		{"pm_santa", "Santa (Portuguese)", "pt-BR", Male, 131, 4.3, nil},
	} {
		all = append(all, Base{
			ID:       KokoroPack + "-" + strings.ReplaceAll(v.style, "_", "-"),
			Name:     v.name,
			Pack:     KokoroPack,
			Style:    v.style,
			Model:    "Kokoro",
			Language: v.language,
			Gender:   v.gender,
			PitchHz:  v.pitchHz,
			Sounds:   append(v.sounds, soundWords(v.gender, v.pitchHz, v.moves)...),
		})
	}
	return all
}
