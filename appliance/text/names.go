package text

import (
	"regexp"
	"sync"
)

// names are how names and words of many origins are said that eSpeak NG's
// English gets badly wrong. What a lexicon says goes before.
var names = sync.OnceValue(func() Lexicon {
	l, err := NewLexicon(map[string]string{
		"Joaquín": "/wɑːˈkiːn/", "Joaquin": "/wɑːˈkiːn/", "Nguyen": "/wɪn/", "Nguyễn": "/wɪn/", "Niamh": "/niːv/",
		"Saoirse": "/ˈsɪɹʃə/", "Eoin": "/ˈoʊɪn/", "Xi Jinping": "/ˈʃiː dʒɪnˈpɪŋ/", "Qing": "/tʃɪŋ/",
		"Zhang": "/dʒɑːŋ/", "Zhao": "/dʒaʊ/", "Zhou": "/dʒoʊ/", "Xiaoming": "/ʃaʊˈmɪŋ/", "Xiaomi": "/ʃaʊˈmiː/",
		"Huawei": "/ˈwɑːweɪ/", "Jesús": "/heɪˈsuːs/", "Guillermo": "/ɡiːˈjɛɹmoʊ/", "Beyoncé": "/biˈɑːnseɪ/",
		"Jean-Luc": "/ʒɑːn ˈluːk/", "Jürgen": "/ˈjɜːɡən/", "Goethe": "/ˈɡɜːtə/", "Wojciech": "/ˈvɔɪtʃɛk/",
		"Krzysztof": "/ˈkʃɪʃtɔf/", "Łukasz": "/ˈwuːkɑːʃ/", "Szymon": "/ˈʃɪmɔn/", "Agnieszka": "/ɑːɡˈnjɛʃkə/",
		"Dvořák": "/ˈdvɔːɹʒɑːk/", "Giuseppe": "/dʒuːˈzɛpi/", "Chiara": "/kiˈɑːɹə/", "Gianluca": "/dʒɑːnˈluːkə/",
		"Srinivasan": "/ʃɹiːniˈvɑːsən/", "Khadija": "/kəˈdiːdʒə/", "Hussein": "/huːˈseɪn/", "Fatima": "/ˈfɑːtɪmə/",
		"Ahmed": "/ˈɑːmɛd/", "Takeshi": "/təˈkɛʃi/", "Kyoko": "/kiˈoʊkoʊ/", "Ryo": "/ɹiˈoʊ/",
		"Ji-hoon": "/ˈdʒiːhuːn/", "Thuy": "/twiː/", "Phuong": "/fʊŋ/", "Oaxaca": "/wəˈhɑːkə/", "Kyiv": "/kiːv/",
		"Reykjavik": "/ˈɹeɪkjəvɪk/", "Versailles": "/vɛɹˈsaɪ/", "Whangarei": "/fɑːŋɑːˈɹeɪ/", "Taupo": "/ˈtoʊpoʊ/",
		"Gauteng": "/xaʊˈtɛŋ/", "Hermès": "/ɛɹˈmɛz/", "Nike": "/ˈnaɪki/", "Porsche": "/ˈpɔːɹʃə/",
		"gnocchi": "/ˈnjɑːki/", "bruschetta": "/bɹuːˈskɛtə/", "croissant": "/kɹəˈsɑːnt/", "quinoa": "/ˈkiːnwɑː/",
		"jalapeño": "/hɑːləˈpeɪnjoʊ/", "açaí": "/ɑːsaɪˈiː/", "Cholmondeley": "/ˈtʃʌmli/",
		"Featherstonehaugh": "/ˈfænʃɔː/", "Mainwaring": "/ˈmænɚɹɪŋ/",
	})
	if err != nil {
		panic(err) // the first test of this package finds it
	}
	return l
})

// footnotes are superior figures behind words of three letters or more: those
// behind shorter ones are powers (m², km³).
var footnotes = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(\pL{3}[.,;:!?"”’)]*)[¹²³⁰⁴-⁹]+`)
})

func withoutNotes(t traced) traced { return t.only(footnotes(), 1) }
