package voice

import "parley/appliance/audio/shape"

// trait is what a word of a description changes. A word about who speaks changes nothing in how
// something is said.
type trait struct {
	Words  string // separated by commas; also matched in the forms of forms
	Says   string // what it means, for people
	gender Gender
	weak   bool // the gender is a hint: the word may describe another person
	age    age
	accent string  // beginning of the BCP 47 tag of the voices that have it
	rate   float64 // natural logarithm
	shape  shape.Settings
}

type age int

const (
	anyAge age = iota
	child
	teen
	young
	middle
	old
)

// vocabulary returns every word that descriptions may use, by subject.
func vocabulary() []section {
	type s = shape.Settings
	return []section{
		{"Who speaks", false, []trait{
			{Words: "man, male, masculine, gentleman, guy, father, dad, uncle, brother, king, prince, butler, lord, " +
				"monk, priest, sailor, cowboy, mr", gender: Male},
			{Words: "woman, female, feminine, lady, mother, mom, mum, aunt, sister, queen, princess, nurse, maid, " +
				"witch, nun, mrs, ms", gender: Female},
			{Words: "he, his, him", gender: Male, weak: true},
			{Words: "she, her, hers", gender: Female, weak: true},
			{Words: "boy, schoolboy", gender: Male, age: child},
			{Words: "girl, schoolgirl", gender: Female, age: child},
			{Words: "grandfather, grandpa, wizard, old man", gender: Male, age: old},
			{Words: "grandmother, grandma, granny, crone, old woman, old lady", gender: Female, age: old},
			{Words: "child, kid, childlike, toddler, children", age: child},
			{Words: "teen, teenage, teenager, adolescent", age: teen},
			{Words: "young, youthful, twenties, thirties", age: young},
			{Words: "middle aged, mature, forties, fifties", age: middle},
			{Words: "old, elderly, senior, ancient, sixties, seventies, eighties, nineties, grandparent", age: old},
			{Words: "american, usa, californian, texan, midwestern, new york", accent: "en-US"},
			{Words: "british, uk, london, oxford, rp, received pronunciation, english accent, posh, cockney",
				accent: "en-GB"},
			{Words: "speaks spanish, speaking spanish, spanish speaking, in spanish", accent: "es"},
			{Words: "speaks french, speaking french, french speaking, in french", accent: "fr"},
			{Words: "speaks italian, speaking italian, italian speaking, in italian", accent: "it"},
			{Words: "speaks hindi, speaking hindi, hindi speaking, in hindi", accent: "hi"},
			{Words: "speaks portuguese, speaking portuguese, portuguese speaking, in portuguese", accent: "pt"},
		}},
		{"How the voice is", true, []trait{
			{Words: "deep, low, bass, baritone, low pitched, low voice", Says: "lower, with a longer throat",
				shape: s{Pitch: -2.5, Formant: -1.2, Warmth: 1.5}},
			{Words: "high, high pitched, soprano, shrill, high voice", Says: "higher, with a shorter throat",
				shape: s{Pitch: 2.5, Formant: 1}},
			{Words: "big, giant, booming, massive", Says: "a longer throat, fuller",
				shape: s{Pitch: -2, Formant: -2, Warmth: 2.5}},
			{Words: "tiny, little creature", Says: "a shorter throat", shape: s{Pitch: 2, Formant: 2, Warmth: -2}},
			{
				Words:  "squeaky, squeaking, piping, chirpy",
				Says:   "much higher, with a shorter throat; a woman's where nothing else is said",
				gender: Female,
				weak:   true,
				shape:  s{Pitch: 3.5, Formant: 1.5, Warmth: -1},
			},
			{Words: "cartoon, cartoonish", Says: "higher, and the pitch moves more", shape: s{Pitch: 1, Range: 0.4}},
			{
				Words:  "mouse, chipmunk, pixie, fairy",
				Says:   "higher, with a shorter throat; a woman's where nothing else is said",
				gender: Female,
				weak:   true,
				shape:  s{Pitch: 1.5, Formant: 1, Warmth: -1},
			},
			{
				Words:  "monster, ogre, troll, orc, dragon",
				Says:   "much lower, with a longer throat, rough; a man's where nothing else is said",
				gender: Male,
				weak:   true,
				shape: s{
					Pitch:   -3,
					Formant: -2,
					Warmth:  2,
					Rough:   0.35,
				},
			},
			{Words: "bright, crisp, clear, sharp, brilliant", Says: "more treble", shape: s{Brightness: 3}},
			{Words: "dark, dull, muffled, mellow, velvety", Says: "less treble", shape: s{Brightness: -3.5}},
			{Words: "warm, rich, full, round, smooth, honeyed", Says: "more bass, a little less treble",
				shape: s{Warmth: 3, Brightness: -1}},
			{Words: "thin, cold, tinny, nasal", Says: "less bass", shape: s{Warmth: -4, Brightness: 1.5}},
			{Words: "breathy, airy, husky, sultry", Says: "breath in the voice", shape: s{Breath: 0.35}},
			{Words: "raspy, rough, gravelly, hoarse, croaky, gruff, scratchy, smoky",
				Says: "an irregular voice, with some breath", shape: s{Rough: 0.8, Breath: 0.25, Pitch: -0.5}},
			{Words: "lively, expressive, animated, sing song, melodic, musical", Says: "the pitch moves more",
				shape: s{Range: 0.45}},
			{Words: "monotone, monotonous, flat, robotic, deadpan, emotionless, mechanical, robot, no emotion, " +
				"without emotion, without any emotion, without feeling", Says: "the pitch hardly moves",
				shape: s{Range: -0.95}},
			{
				Words: "powerful, strong, resonant, commanding, authoritative",
				Says:  "louder, fuller",
				rate:  -0.03,
				shape: s{Gain: 1.5, Warmth: 1.5, Pitch: -0.7},
			},
			{
				Words: "weak, frail, feeble, fragile, thready",
				Says:  "softer, with breath",
				rate:  -0.06,
				shape: s{Gain: -2, Breath: 0.2, Warmth: -2},
			},
		}},
		{"How fast", true, []trait{
			{
				Words: "slow, unhurried, leisurely, drawling, measured, slow paced, deliberate, take your time",
				Says:  "slower, longer pauses",
				rate:  -0.27,
				shape: s{Pauses: 0.25},
			},
			{
				Words: "fast, quick, rapid, brisk, speedy, fast paced, fast talking, speed up",
				Says:  "faster, shorter pauses",
				rate:  0.3,
				shape: s{Pauses: -0.25},
			},
			{
				Words: "urgent, hurried, rushed, frantic, hasty, breathless, panicked, urgency, hurry, panic, " +
					"panicking, panicky, out of breath, desperate, desperation, pleading",
				Says:  "faster and higher, hardly a pause",
				rate:  0.32,
				shape: s{Pauses: -0.5, Pitch: 0.8, Gain: 1},
			},
			{
				Words: "hesitant, halting, pausing, unsure, thoughtful, pensive, contemplative, hesitation, " +
					"confused, confusion, puzzled, perplexed, doubt, doubtful, uncertain, skeptical, contemplation, " +
					"awkward, embarrassed, embarrassment, shy, timid, bashful",
				Says:  "long pauses",
				rate:  -0.08,
				shape: s{Pauses: 0.9},
			},
		}},
		{"How loud", true, []trait{
			{
				Words: "whisper, hushed, whispery, under breath",
				Says:  "without a voice",
				rate:  -0.05,
				shape: s{Breath: 1, Gain: -5},
			},
			{
				Words: "quiet, soft, soft spoken, gentle, subdued, low key, murmur, mutter",
				Says:  "softer, with a little breath",
				rate:  -0.04,
				shape: s{
					Gain:       -4,
					Breath:     0.15,
					Brightness: -2,
					Range:      -0.1,
				},
			},
			{Words: "loud, projecting, projected, declaiming, speak up", Says: "louder and brighter",
				shape: s{Gain: 3.5, Brightness: 2, Pitch: 0.8}},
			{
				Words: "shout, yell, scream, bellow, roar, cry out, call out",
				Says:  "much louder, higher and brighter",
				rate:  -0.02,
				shape: s{
					Gain:       6,
					Brightness: 5,
					Pitch:      3.5,
					Range:      0.3,
					Warmth:     -1,
				},
			},
		}},
		{"In which mood", true, []trait{
			{
				Words: "excited, enthusiastic, energetic, thrilled, ecstatic, eager, hyper, high energy, passionate, " +
					"amazed, excitement, enthusiasm, ecstasy, elated, exhilarated, overjoyed, triumphant, triumph, " +
					"inspiring, inspired, motivational, motivated, more energy, with energy",
				Says: "faster, higher, livelier, louder",
				rate: 0.12,
				shape: s{
					Pitch:      1.6,
					Range:      0.5,
					Gain:       2,
					Brightness: 2,
					Pauses:     -0.3,
				},
			},
			{
				Words: "happy, cheerful, joyful, upbeat, playful, bubbly, cheery, jolly, merry, delighted, friendly, " +
					"smiling, welcoming, joy, joyous, amused, amusement, laugh, giggle, chuckle, optimistic, " +
					"optimism, hopeful, hope, proud, pride, glad, relieved, relief, grateful, gratitude, thankful, " +
					"satisfied, satisfaction, admiration, encouraging, joking, teasing, flirty, flirtatious",
				Says: "a little faster, higher and livelier",
				rate: 0.06,
				shape: s{
					Pitch:      1.1,
					Range:      0.35,
					Brightness: 1.5,
					Gain:       1,
				},
			},
			{
				Words: "sad, melancholic, melancholy, sorrowful, mournful, gloomy, depressed, grieving, heartbroken, " +
					"tearful, somber, despairing, sorrow, grief, despair, hopeless, disappointed, disappointment, " +
					"wistful, nostalgic, nostalgia, bittersweet, lonely, upset, cry, sob, weep, hurt, pain, pained, " +
					"guilt, guilty, ashamed, shame, regretful, remorseful, apologetic, resigned, resignation, defeated",
				Says: "slower, lower, flatter, softer",
				rate: -0.16,
				shape: s{
					Pitch:      -1.4,
					Range:      -0.4,
					Brightness: -3,
					Gain:       -3,
					Pauses:     0.5,
					Breath:     0.15,
				},
			},
			{
				Words: "calm, relaxed, soothing, serene, peaceful, meditative, tranquil, composed, reassuring, " +
					"patient, serenity, contentment, dreamy, entranced, entrancement, concentration, focused, stoic, " +
					"aesthetic appreciation",
				Says: "a little slower, flatter and softer",
				rate: -0.1,
				shape: s{
					Range:      -0.25,
					Gain:       -1.5,
					Pauses:     0.35,
					Brightness: -1,
					Pitch:      -0.4,
				},
			},
			{
				Words: "angry, furious, enraged, irritated, annoyed, mad, hostile, aggressive, fierce, outraged, " +
					"stern, anger, fury, rage, annoyance, frustrated, frustration, impatient, impatience, indignant, " +
					"disapproval, disapproving, disgust, disgusted, contempt, contemptuous, bitter, resentful, " +
					"jealous, jealousy, envious, envy, grumpy, cranky, harsh, threatening",
				Says: "louder, sharper, rougher",
				rate: 0.07,
				shape: s{
					Pitch:      0.8,
					Range:      0.35,
					Gain:       4,
					Brightness: 4,
					Rough:      0.25,
					Pauses:     -0.2,
				},
			},
			{
				Words: "dramatic, theatrical, epic, intense, suspenseful, mysterious, ominous, cinematic, emotional, " +
					"emphatic, sinister, menacing, evil, villain, villainous",
				Says:  "livelier, slower, with long pauses",
				rate:  -0.1,
				shape: s{Range: 0.5, Pauses: 0.8, Gain: 1},
			},
			{
				Words: "fearful, scared, afraid, frightened, nervous, anxious, terrified, trembling, worried, shaky, " +
					"fear, anxiety, worry, terror, horror, horrified, distress, distressed, alarmed, uneasy, tense, " +
					"concerned, concern",
				Says: "higher, faster, with breath",
				rate: 0.1,
				shape: s{
					Pitch:  1.8,
					Breath: 0.2,
					Rough:  0.2,
					Range:  0.15,
					Gain:   -1,
				},
			},
			{
				Words: "serious, formal, professional, confident, assertive, newsreader, matter of fact, narrator, " +
					"official, determined, determination, firm, bold, sincere, businesslike, cautious, " +
					"caution, warning",
				Says:  "a little lower and flatter",
				rate:  -0.03,
				shape: s{Pitch: -0.6, Range: -0.12, Gain: 0.5},
			},
			{
				Words: "tired, sleepy, bored, weary, exhausted, drowsy, lazy, low energy, lethargic, fatigue, " +
					"boredom, yawn, sigh, sluggish",
				Says: "slower, flatter, softer, with breath",
				rate: -0.15,
				shape: s{
					Pitch:      -0.8,
					Range:      -0.45,
					Gain:       -2.5,
					Breath:     0.2,
					Pauses:     0.35,
					Brightness: -2,
				},
			},
			{
				Words: "surprised, astonished, shocked, startled, surprise, astonishment, amazement, shock, awe, " +
					"awestruck, disbelief, incredulous",
				Says:  "higher and livelier",
				rate:  0.04,
				shape: s{Pitch: 1.6, Range: 0.6, Gain: 1.5},
			},
			{Words: "curious, curiosity, interested, interest, intrigued, inquisitive, wondering, realization",
				Says: "a little higher and livelier", shape: s{Pitch: 0.8, Range: 0.35}},
			{
				Words: "tender, loving, affectionate, kind, caring, compassionate, sympathetic, empathetic, " +
					"intimate, nurturing, love, affection, adoration, compassion, sympathy, comforting, romantic, " +
					"romance, seductive, desire, craving",
				Says: "softer, warmer, a little slower",
				rate: -0.06,
				shape: s{
					Gain:       -2,
					Warmth:     2,
					Brightness: -1,
					Breath:     0.12,
				},
			},
			{
				Words: "sarcastic, ironic, mocking, smug, dry, sarcasm, irony, condescending, dismissive, scornful",
				Says:  "a little slower, with emphasis",
				rate:  -0.07,
				shape: s{Range: 0.3, Pitch: -0.4, Pauses: 0.2},
			},
		}},
	}
}

// section is a part of the vocabulary. If manner is set, its words also change how an existing
// voice says something.
type section struct {
	About  string
	manner bool
	traits []trait
}

// degrees returns the words that scale the next trait.
func degrees() []degree {
	return []degree{
		{"slightly, a little, a bit, a touch, mildly, faintly, hint of, subtly, vaguely", 0.45},
		{"somewhat, moderately, a little bit, kind of, sort of, semi", 0.65},
		{"fairly, rather, quite, pretty", 1},
		{"very, really, highly, deeply, strongly, particularly, so, great, much, a lot of, lots of, full of, filled " +
			"with", 1.5},
		{"extremely, super, incredibly, ultra, exceptionally, intensely, as can be", 2},
		{"less", -0.5},
	}
}

type degree struct {
	Words string
	times float64
}

// negations reverse the next trait, weakened by negatedShare.
const negations = "not, no, never, without, isn't, aren't, don't, doesn't, nor, non, avoid, hardly"
