package language

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// stops are the utterances that end a conversation, of each language of the table
// and of Hindi. Each is all that is said: who says more asks for something else.
var stops = [...]struct{ tag, said string }{
	{"en", "stop, stop it, stop please, please stop, stop talking, stop now, be quiet, quiet, shut up, goodbye, good " +
		"bye, bye, bye bye, that s all, that is all, end the conversation"},
	{"de", "stopp, halt, hör auf, hören sie auf, hör bitte auf, aufhören, sei still, ruhe, auf wiedersehen, auf " +
		"wiederhören, tschüss, das war alles, das ist alles"},
	{"fr", "arrête, arrête toi, arrêtez, stoppe, tais toi, taisez vous, silence, au revoir, c est tout"},
	{"es", "para, pare, parar, detente, alto, cállate, cállese, silencio, adiós, hasta luego, eso es todo"},
	{"it", "ferma, fermati, si fermi, basta, smettila, zitto, arrivederci, è tutto"},
	{"pt", "pare, pára, chega, cala te, cale se, silêncio, tchau, adeus, é tudo, é só isso"},
	{"nl", "hou op, houd op, ophouden, stil, genoeg, tot ziens, dat was alles, dat is alles"},
	{"ru", "стоп, хватит, остановись, остановитесь, замолчи, тихо, до свидания, пока, это всё"},
	{"uk", "стоп, стій, досить, зупинись, зупиніться, замовкни, тихо, до побачення, це все"},
	{"pl", "stój, przestań, proszę przestać, wystarczy, cicho, do widzenia, to wszystko"},
	{"sv", "stopp, sluta, stanna, tyst, var tyst, hej då, det var allt"},
	{"tr", "dur, durun, yeter, sus, güle güle, hoşça kal, hoşça kalın, bu kadar"},
	{"ja", "ストップ, 止まって, 止めて, やめて, とめて, 終わり, 終わります, さようなら, 静かにして"},
	{"zh", "停, 停止, 停下, 别说了, 別說了, 安静, 安靜, 再见, 再見, 够了, 夠了"},
	{"ko", "그만, 그만해, 그만하세요, 멈춰, 중지, 조용히 해, 됐어, 안녕히 계세요"},
	{"hi", "रुको, रुकिए, बस, बंद करो, चुप, अलविदा"},
}

// Stops reports whether somebody wants a conversation to end, in whatever
// language: of a single word a transcriber rarely knows which it is.
func Stops(text string) bool {
	words := Plain(text)
	if words == "" {
		return false
	}
	once := words // of "Stop, stop, stop!"
	if first, rest, again := strings.Cut(words, " "); again && strings.ReplaceAll(rest+" ", first+" ", "") == "" {
		once = first
	}
	for _, l := range stops {
		for one := range strings.SplitSeq(l.said, ", ") {
			if said := Plain(one); said == words || said == once {
				return true
			}
		}
	}
	return false
}

// Plain is what is said without how it is written: small letters and digits,
// without accents, and one space between words.
func Plain(text string) string {
	var b strings.Builder
	for _, r := range norm.NFKD.String(text) {
		switch {
		case unicode.Is(unicode.Mn, r) && r < 0x0900: // an accent; in other scripts a vowel
		case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r):
			b.WriteRune(unicode.ToLower(r))
		default:
			b.WriteByte(' ')
		}
	}
	return strings.Join(strings.Fields(norm.NFC.String(b.String())), " ")
}
