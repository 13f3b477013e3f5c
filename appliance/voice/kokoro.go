package voice

import "strings"

// Kokoro are the voices of the pack of that name, under the names with which they
// were published. They blend with one another.
func Kokoro() []Base {
	var all []Base
	for _, v := range []struct {
		style, name, language string
		gender                Gender
		pitchHz               float64
		sounds                []string
	}{
		{"af_alloy", "Alloy", "en-US", Female, 0, nil},
		{"af_aoede", "Aoede", "en-US", Female, 0, nil},
		{"af_bella", "Bella", "en-US", Female, 0, nil},
		{"af_heart", "Heart", "en-US", Female, 0, nil},
		{"af_jessica", "Jessica", "en-US", Female, 0, nil},
		{"af_kore", "Kore", "en-US", Female, 0, nil},
		{"af_nicole", "Nicole", "en-US", Female, 0, nil},
		{"af_nova", "Nova", "en-US", Female, 0, nil},
		{"af_river", "River", "en-US", Female, 0, nil},
		{"af_sarah", "Sarah", "en-US", Female, 0, nil},
		{"af_sky", "Sky", "en-US", Female, 0, nil},
		{"am_adam", "Adam", "en-US", Male, 0, nil},
		{"am_echo", "Echo", "en-US", Male, 0, nil},
		{"am_eric", "Eric", "en-US", Male, 0, nil},
		{"am_fenrir", "Fenrir", "en-US", Male, 0, nil},
		{"am_liam", "Liam", "en-US", Male, 0, nil},
		{"am_michael", "Michael", "en-US", Male, 0, nil},
		{"am_onyx", "Onyx", "en-US", Male, 0, nil},
		{"am_puck", "Puck", "en-US", Male, 0, nil},
		{"am_santa", "Santa", "en-US", Male, 0, nil},
		{"bf_alice", "Alice", "en-GB", Female, 0, nil},
		{"bf_emma", "Emma", "en-GB", Female, 0, nil},
		{"bf_isabella", "Isabella", "en-GB", Female, 0, nil},
		{"bf_lily", "Lily", "en-GB", Female, 0, nil},
		{"bm_daniel", "Daniel", "en-GB", Male, 0, nil},
		{"bm_fable", "Fable", "en-GB", Male, 0, nil},
		{"bm_george", "George", "en-GB", Male, 0, nil},
		{"bm_lewis", "Lewis", "en-GB", Male, 0, nil},
		{"ef_dora", "Dora (Spanish)", "es", Female, 0, nil},
		{"em_alex", "Alex (Spanish)", "es", Male, 0, nil},
		{"em_santa", "Santa (Spanish)", "es", Male, 0, nil},
		{"ff_siwis", "Siwis", "fr-FR", Female, 0, nil},
		{"hf_alpha", "Alpha", "hi", Female, 0, nil},
		{"hf_beta", "Beta", "hi", Female, 0, nil},
		{"hm_omega", "Omega", "hi", Male, 0, nil},
		{"hm_psi", "Psi", "hi", Male, 0, nil},
		{"if_sara", "Sara", "it", Female, 0, nil},
		{"im_nicola", "Nicola", "it", Male, 0, nil},
		{"pf_dora", "Dora (Portuguese)", "pt-BR", Female, 0, nil},
		{"pm_alex", "Alex (Portuguese)", "pt-BR", Male, 0, nil},
		{"pm_santa", "Santa (Portuguese)", "pt-BR", Male, 0, nil},
	} {
		all = append(all, Base{
			ID: KokoroPack + "-" + strings.ReplaceAll(v.style, "_", "-"), Name: v.name, Pack: KokoroPack, Style: v.style, Model: "Kokoro",
			Language: v.language, Gender: v.gender, PitchHz: v.pitchHz, Sounds: v.sounds,
		})
	}
	return all
}
