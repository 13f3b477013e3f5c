package text

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestVerbalizeEnglish(t *testing.T) {
	for _, row := range [][2]string{
		// cardinals
		{"I have 0, 7 and 42.", "I have zero, seven and forty-two."},
		{"It is 100 or 101.", "It is one hundred or one hundred one."},
		{"There are 1,000,000 of 12,345.", "There are one million of twelve thousand three hundred forty-five."},
		{"It weighs 3000000 in all.", "It weighs three million in all."},
		{"5", "five"},
		// decimals and signs
		{"Pi is 3.14.", "Pi is three point one four."},
		{"It is -5 now.", "It is minus five now."},
		{"It is -3.5 or +2.", "It is minus three point five or plus two."},
		{"Add .5 to 0.05.", "Add point five to zero point zero five."},
		{"1,234.56 in all", "one thousand two hundred thirty-four point five six in all"},
		// years
		{"In 1984 we met.", "In nineteen eighty-four we met."},
		{"It is 2026.", "It is twenty twenty-six."},
		{"Born in 1905, died in 2005.", "Born in nineteen oh five, died in two thousand five."},
		{"Since 1900 or 2000.", "Since nineteen hundred or two thousand."},
		{"There were 1984 people.", "There were one thousand nine hundred eighty-four people."},
		{"The war of 1914-1918.", "The war of nineteen fourteen to nineteen eighteen."},
		{"The war of 1914-18.", "The war of nineteen fourteen to eighteen."},
		{"The 1980s and the '90s and 60s.", "The nineteen eighties and the nineties and sixties."},
		// ranges
		{"Pages 5–10.", "Pages five to ten."},
		{"Ages 5-10.", "Ages five to ten."},
		{"From 7:00-10:30.", "From seven o'clock to ten thirty."},
		{"Open 9-5 pm.", "Open nine to five P-M."},
		{"Open 7:30–9 a.m. daily.", "Open seven thirty to nine A-M daily."},
		{"It takes 5-10 minutes.", "It takes five to ten minutes."},
		{"A 5-10% rise.", "A five to ten percent rise."},
		{"10-20 km away.", "ten to twenty kilometers away."},
		// money
		{"It costs $4.99.", "It costs four dollars and ninety-nine cents."},
		{"It costs £20.", "It costs twenty pounds."},
		{"It costs €1,000.50!", "It costs one thousand euros and fifty cents!"},
		{"It costs $1 or $1.01.", "It costs one dollar or one dollar and one cent."},
		{"$0.99 each", "ninety-nine cents each"},
		{"$3 million of $2.5 billion", "three million dollars of two point five billion dollars"},
		{"$5k or £10m", "five thousand dollars or ten million pounds"},
		{"-$5 and $-6", "minus five dollars and minus six dollars"},
		{"20€ or 20 €", "twenty euros or twenty euros"},
		{"USD 20 or 30 EUR", "twenty US dollars or thirty euros"},
		{"¥500 is cheap.", "five hundred yen is cheap."},
		{"$20/month", "twenty dollars per month"},
		{"$5-10 each", "five to ten dollars each"},
		{"A $5 bill.", "A five dollar bill."},
		// percent
		{"50% off", "fifty percent off"},
		{"It fell by 0.5 %.", "It fell by zero point five percent."},
		// times
		{"At 7:30.", "At seven thirty."},
		{"At 10:30 pm.", "At ten thirty P-M."},
		{"At 9 a.m. we open.", "At nine A-M we open."},
		{"We open at 9 a.m.", "We open at nine A-M."},
		{"At 07:05 sharp.", "At seven oh five sharp."},
		{"At 7:00.", "At seven o'clock."},
		{"At 7:00 o'clock.", "At seven o'clock."},
		{"At 19:00 or 00:00.", "At nineteen hundred or midnight."},
		{"At 5pm or 5PM.", "At five P-M or five P-M."},
		{"It is open 24/7.", "It is open twenty-four seven."},
		{"It took 24 h.", "It took twenty-four hours."},
		{"It took 1:02:03.", "It took one hour two minutes three seconds."},
		{"They won 3:1.", "They won three to one."},
		// dates
		{"On 2026-11-21.", "On November twenty-first, twenty twenty-six."},
		{"On 11/21/2026.", "On November twenty-first, twenty twenty-six."},
		{"On 21/11/2026.", "On November twenty-first, twenty twenty-six."},
		{"On Nov 21, 2026.", "On November twenty-first, twenty twenty-six."},
		{"On Nov. 21.", "On November twenty-first."},
		{"On 21 November.", "On the twenty-first of November."},
		{"On the 21st of November 2026.", "On the twenty-first of November, twenty twenty-six."},
		{"In November 2026.", "In November twenty twenty-six."},
		{"On 3/4/26.", "On March fourth, twenty-six."},
		{"On 21.11.2026.", "On November twenty-first, twenty twenty-six."},
		{"May 5 is fine.", "May fifth is fine."},
		// phones and digit strings
		{"Call 555-1234.", "Call five five five, one two three four."},
		{"Call (555) 123-4567.", "Call five five five, one two three, four five six seven."},
		{"Call 1-800-555-1234 now.", "Call one, eight zero zero, five five five, one two three four now."},
		{"Call +44 20 7946 0958.", "Call plus four four, two zero, seven nine four six, zero nine five eight."},
		{"The code is 4711.", "The code is four seven one one."},
		{"Number 12345678.", "Number one two three four five six seven eight."},
		{"Agent 007.", "Agent zero zero seven."},
		{"4111 1111 1111 1111", "four one one one, one one one one, one one one one, one one one one"},
		// fractions
		{"1/2 a cup", "one half a cup"},
		{"3/4 and 2/3", "three quarters and two thirds"},
		{"1 1/2 cups", "one and a half cups"},
		{"1½ or ¼", "one and a half or one quarter"},
		{"9 / 10", "nine out of ten"},
		{"On 9/11.", "On nine eleven."},
		// units
		{"5 km and 1 km", "five kilometers and one kilometer"},
		{"20°C or 68 °F", "twenty degrees Celsius or sixty-eight degrees Fahrenheit"},
		{"10 kg, 16 GB", "ten kilograms, sixteen gigabytes"},
		{"60 mph and 90 km/h", "sixty miles per hour and ninety kilometers per hour"},
		{"-5°C", "minus five degrees Celsius"},
		{"A 90° turn", "A ninety degree turn"},
		{"2.4GHz", "two point four gigahertz"},
		{"50 m² of 3 m3", "fifty square meters of three cubic meters"},
		{"I have 5 in the bag.", "I have five in the bag."},
		{"12in", "twelve inches"},
		{"5'11\" tall", "five feet eleven inches tall"},
		{"1920x1080 px", "one thousand nine hundred twenty by one thousand eighty pixels"},
		{"2x faster", "two times faster"},
		{"100 Mbit/s", "one hundred megabits per second"},
		// ordinals and numbered things
		{"The 1st, 2nd, 3rd and 22nd.", "The first, second, third and twenty-second."},
		{"The 1,000th and 12th and 20th.", "The one thousandth and twelfth and twentieth."},
		{"#5 and No. 6", "number five and Number six"},
		{"Room 101 and room 212.", "Room one oh one and room two twelve."},
		{"Error 404.", "Error four oh four."},
		// abbreviations
		{"Dr. Smith and Mr. Jones.", "Doctor Smith and Mister Jones."},
		{"Dr Smith and Mrs Jones.", "Doctor Smith and Missus Jones."},
		{"St. Mary on Main St.", "Saint Mary on Main Street."},
		{"It is on Main St. The shop.", "It is on Main Street. The shop."},
		{"Mulholland Dr. is long.", "Mulholland Drive is long."},
		{"Fruit, e.g. apples, etc.", "Fruit, for example apples, et cetera."},
		{"That is, i.e. this vs. that.", "That is, that is this versus that."},
		{"It is approx. 5.", "It is approximately five."},
		{"Acme Inc. and Co.", "Acme Incorporated and Co."},
		{"See p. 5, fig. 2.", "See page five, figure two."},
		{"I ate a fig.", "I ate a fig."},
		{"King Jr. spoke.", "King Junior spoke."},
		{"w/ milk, w/o sugar", "with milk, without sugar"},
		{"On Tues. morning", "On Tuesday morning"},
		// initials and acronyms
		{"The U.S. Army.", "The U-S Army."},
		{"He lives in the U.S.", "He lives in the U-S."},
		{"J. R. R. Tolkien", "J R R Tolkien"},
		{"The FBI and NASA use Wi-Fi.", "The FBI and NASA use Wi-Fi."},
		{"A Ph.D. student", "A P-H-D student"},
		// Roman numerals
		{"Chapter IV", "Chapter four"},
		{"World War II", "World War two"},
		{"Henry VIII and Louis XIV.", "Henry the eighth and Louis the fourteenth."},
		{"King Charles I of England. Charles, I said.", "King Charles the first of England. Charles, I said."},
		{"Class I think", "Class one think"},
		{"I said so. VI", "I said so. VI"},
		// addresses and names
		{"See https://example.com/help.", "See example dot com slash help."},
		{"See example.com/help", "See example dot com slash help"},
		{"See www.example.co.uk!", "See W-W-W dot example dot C-O dot U-K!"},
		{"Mail me.too@example.com.", "Mail me dot too at example dot com."},
		{"Version 2.0", "Version two point zero"},
		// symbols
		{"Salt & pepper", "Salt and pepper"},
		{"2 + 2 = 4", "two plus two equals four"},
		{"2+2=4", "two plus two equals four"},
		{"5 - 3 = 2", "five minus three equals two"},
		{"5 * 3 and 6/2 = 3", "five times three and six divided by two equals three"},
		{"x² is fun", "x squared is fun"},
		{"he/she and TCP/IP and and/or", "he or she and TCP IP and and or"},
		{"Write C++ or C#.", "Write C plus plus or C sharp."},
		{"~5 or <10", "about five or less than ten"},
		{"#winning", "hashtag winning"},
		{"Yes — no - maybe", "Yes, no, maybe"},
		{"an MP3, 3D, H2O, COVID-19", "an M-P three, three D, H two O, COVID nineteen"},
		{"Hello 😀 there™", "Hello there"},
		{"“Don’t!”", "\"Don't!\""},
		{"１２３ and ٣", "one hundred twenty-three and three"},
		{"Open 10 a.m.-4 p.m. on Mon–Fri.", "Open ten A-M to four P-M on Monday to Friday."},
		{"It is 6 p.m. The sun sets.", "It is six P-M. The sun sets."},
		{"From June 5-7 or 5-7 June.", "From June fifth to seventh or fifth to seventh of June."},
		{"It weighs 10 lbs. after 3 hrs. of work.", "It weighs ten pounds after three hours of work."},
		{"Flight BA2490 to 42nd St.", "Flight B-eigh two four nine zero to forty-second Street."},
		{"In 12/2026, room 5A, 10k", "In December twenty twenty-six, room five eigh, ten thousand"},
		{"√2 ± 3, (1,5)", "square root of two plus or minus three, (one, five)"},
		{"Mr. & Mrs. Smith at 11.30 am", "Mister and Missus Smith at eleven thirty A-M"},
		{"bell\x07 and\x00nul", "bell and nul"},
		{"", ""},
	} {
		if got := Verbalize(row[0], Options{Language: "en-US"}); got != row[1] {
			t.Errorf("Spoken(%q)\n got %q\nwant %q", row[0], got, row[1])
		}
	}
}

func TestBritishDatesBeginWithTheDay(t *testing.T) {
	if got, want := Verbalize("On 3/4/2026.", Options{Language: "en_GB"}),
		"On the third of April, twenty twenty-six."; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestVerbalizeOtherLanguagesOnlyRemovesMarkup(t *testing.T) {
	for in, want := range map[string]string{
		"Das kostet  3,50 € 😀.": "Das kostet 3,50 € .",
		"Am 21.11.\x00":         "Am 21.11.",
	} {
		if got := Verbalize(in, Options{Language: "de-DE"}); got != want {
			t.Errorf("Spoken(%q) = %q, want %q", in, got, want)
		}
	}
}

// written draws text of what numbers are made of.
func written(t *rapid.T) string {
	atom := rapid.SampledFrom([]string{"1", "0", "12", "2026", "1984", ".", ",", ":", "-", "/", " ", " ", "$", "€", "%",
		"°C", "km", "a.m.", "Nov", "st", "th", "v", "#", "+", "=", "(", ")", "'", "\"", "x", "St.", "No.", "U.S.",
		"e.g.", "IV", "Henry", "Chapter", "http://", "www.", ".com", "@", "m", "s", "½", "²", "٣", "A", "the", "…", "—",
		"&", "[", "*", "~"})
	return strings.Join(rapid.SliceOfN(atom, 0, 30).Draw(t, "atoms"), "")
}

func TestVerbalizeLeavesNoDigitInEnglish(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.OneOf(rapid.Custom(written), rapid.String()).Draw(t, "text")
		got := Verbalize(in, Options{Language: "en"})
		if strings.ContainsFunc(got, unicode.IsDigit) {
			t.Fatalf("%q is said %q", in, got)
		}
		// "#" in an address is "hash"; the longest names of one sign are
		// "exclamation mark" and "to the power of"; the longest digit is
		// " seven hundred thousand".
		if len(got) > 24*len(in)+16 {
			t.Fatalf("%q (%d bytes) is said in %d bytes: %q", in, len(in), len(got), got)
		}
	})
}

func TestVerbalizeIsIdempotent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.OneOf(rapid.Custom(written), rapid.String()).Draw(t, "text")
		language := rapid.SampledFrom([]string{"en", "en-GB"}).Draw(t, "language")
		once := Verbalize(in, Options{Language: language})
		if twice := Verbalize(once, Options{Language: language}); twice != once {
			t.Fatalf("%q is said %q, then %q", in, once, twice)
		}
	})
}

// Other languages keep their figures, which the voice reads, so a second pass may change what
// the first has separated; but the output is text, and bounded.
func TestVerbalizeOtherLanguagesIsBounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.OneOf(rapid.Custom(written), rapid.String()).Draw(t, "text")
		language := rapid.SampledFrom([]string{"fr", "es", "it", "pt", "hi"}).Draw(t, "language")
		got := Verbalize(in, Options{Language: language})
		if !utf8.ValidString(got) || len(got) > 24*len(in)+16 {
			t.Fatalf("%q (%d bytes) is said in %d bytes: %q", in, len(in), len(got), got)
		}
	})
}
