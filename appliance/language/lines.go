package language

// lines are what an assistant says without having to think, in one language.
type lines struct {
	tag string
	// working says that something is being looked up; the second where it takes
	// several steps.
	working [2]string
	// sorry is what is said when a tool has failed, and broken when an answer has
	// broken off, or none has come.
	sorry, broken string
	// again asks somebody to say once more what was not understood.
	again string
	// thinking is said before an answer to a question that takes time, and wait
	// before any other: neither agrees to anything, or refuses it.
	thinking, wait [2]string
	// nudges ask somebody who has fallen silent to go on.
	nudges  [3]string
	goodbye string
}

// Working says that something is being looked up, for the nth time of an answer
// (from 1).
func (l Language) Working(nth int) string { return said(l).working[pick(nth, 2)] }

// Sorry says that something that was to be done did not work.
func (l Language) Sorry() string { return said(l).sorry }

// Broken says that an answer cannot be given, or not to its end.
func (l Language) Broken() string { return said(l).broken }

// Again asks somebody to say once more what was not understood.
func (l Language) Again() string { return said(l).again }

// Quick says that somebody was heard, where the answer takes its time: to a
// question, or to anything else. Of several ways of saying it nth chooses one.
func (l Language) Quick(question bool, nth int) string {
	if question {
		return said(l).thinking[nth&1]
	}
	return said(l).wait[nth&1]
}

// Nudge asks somebody who has fallen silent to go on, for the nth time (from 1).
func (l Language) Nudge(nth int) string { return said(l).nudges[pick(nth, 3)] }

// Goodbye ends a call.
func (l Language) Goodbye() string { return said(l).goodbye }

// pick is the place of the nth of n; the last for all after it.
func pick(nth, n int) int { return min(max(nth, 1), n) - 1 }

// said are the lines of a language; English where it has none.
func said(l Language) lines {
	for _, x := range spokenLines {
		if x.tag == l.tag {
			return x
		}
	}
	return spokenLines[0]
}

var spokenLines = [...]lines{
	{
		"en", [2]string{"One moment, please.", "Just a moment more."},
		"I'm sorry, that did not work.", "I'm sorry, I cannot answer that just now.",
		"I'm sorry, could you say that again?",
		[2]string{"Let me see.", "Let me think."}, [2]string{"One moment.", "Just a moment."},
		[3]string{"Are you still there?", "Take your time. I am listening.", "Can I help you with anything else?"},
		"Goodbye.",
	},
	{
		"de", [2]string{"Einen Moment bitte.", "Noch einen Augenblick."},
		"Das hat leider nicht geklappt.", "Das kann ich gerade leider nicht beantworten.",
		"Entschuldigung, können Sie das noch einmal sagen?",
		[2]string{"Mal sehen.", "Lassen Sie mich nachdenken."}, [2]string{"Einen Moment.", "Einen Augenblick."},
		[3]string{"Sind Sie noch da?", "Lassen Sie sich Zeit. Ich höre zu.", "Kann ich Ihnen noch bei etwas helfen?"},
		"Auf Wiederhören.",
	},
	{
		"fr", [2]string{"Un instant, s'il vous plaît.", "Encore un petit instant."},
		"Désolé, cela n'a pas fonctionné.", "Désolé, je ne peux pas répondre pour le moment.",
		"Pardon, pouvez-vous répéter ?",
		[2]string{"Voyons voir.", "Laissez-moi réfléchir."}, [2]string{"Un instant.", "Un petit instant."},
		[3]string{"Vous êtes toujours là ?", "Prenez votre temps, je vous écoute.",
			"Puis-je vous aider pour autre chose ?"}, "Au revoir.",
	},
	{
		"es", [2]string{"Un momento, por favor.", "Un momento más."},
		"Lo siento, no ha funcionado.", "Lo siento, ahora mismo no puedo responder a eso.",
		"Perdone, ¿puede repetirlo?",
		[2]string{"Déjeme ver.", "Déjeme pensar."}, [2]string{"Un momento.", "Un momentito."},
		[3]string{"¿Sigue ahí?", "Tómese su tiempo, le escucho.", "¿Puedo ayudarle en algo más?"}, "Adiós.",
	},
	{
		"it", [2]string{"Un momento, per favore.", "Ancora un attimo."},
		"Mi dispiace, non ha funzionato.", "Mi dispiace, in questo momento non posso rispondere.",
		"Scusi, può ripetere?",
		[2]string{"Vediamo.", "Mi lasci pensare."}, [2]string{"Un momento.", "Un attimo."},
		[3]string{"È ancora lì?", "Faccia con calma, la ascolto.", "Posso aiutarla in altro?"}, "Arrivederci.",
	},
	{
		"pt", [2]string{"Um momento, por favor.", "Só mais um momento."},
		"Desculpe, isso não funcionou.", "Desculpe, não consigo responder a isso agora.", "Desculpe, pode repetir?",
		[2]string{"Deixe-me ver.", "Deixe-me pensar."}, [2]string{"Um momento.", "Um instante."},
		[3]string{"Ainda está aí?", "Fique à vontade, estou a ouvir.", "Posso ajudar em mais alguma coisa?"}, "Adeus.",
	},
	{
		"nl", [2]string{"Een ogenblik alstublieft.", "Nog een ogenblik."},
		"Het spijt me, dat is niet gelukt.", "Het spijt me, daar kan ik nu geen antwoord op geven.",
		"Sorry, kunt u dat nog eens zeggen?",
		[2]string{"Even kijken.", "Even denken."}, [2]string{"Een ogenblik.", "Een momentje."},
		[3]string{"Bent u er nog?", "Neem gerust de tijd, ik luister.", "Kan ik u nog ergens mee helpen?"},
		"Tot ziens.",
	},
	{
		"ru", [2]string{"Одну минуту, пожалуйста.", "Ещё немного, пожалуйста."},
		"К сожалению, это не получилось.", "К сожалению, сейчас я не могу на это ответить.",
		"Извините, повторите, пожалуйста.",
		[2]string{"Сейчас посмотрим.", "Дайте подумать."}, [2]string{"Одну минуту.", "Одну секунду."},
		[3]string{"Вы ещё здесь?", "Не торопитесь, я слушаю.", "Могу ли я ещё чем-нибудь помочь?"}, "До свидания.",
	},
	{
		"uk", [2]string{"Одну хвилину, будь ласка.", "Ще трохи, будь ласка."},
		"На жаль, це не вдалося.", "На жаль, зараз я не можу на це відповісти.", "Вибачте, повторіть, будь ласка.",
		[2]string{"Зараз подивимось.", "Дайте подумати."}, [2]string{"Одну хвилину.", "Одну секунду."},
		[3]string{"Ви ще тут?", "Не поспішайте, я слухаю.", "Чи можу я ще чимось допомогти?"}, "До побачення.",
	},
	{
		"pl", [2]string{"Chwileczkę, proszę.", "Jeszcze chwileczkę."},
		"Przykro mi, to się nie udało.", "Przykro mi, nie mogę teraz na to odpowiedzieć.",
		"Przepraszam, czy można to powtórzyć?",
		[2]string{"Zobaczmy.", "Niech pomyślę."}, [2]string{"Chwileczkę.", "Momencik."},
		[3]string{"Czy pan lub pani jeszcze tam jest?", "Proszę się nie spieszyć, słucham.",
			"Czy mogę jeszcze w czymś pomóc?"}, "Do widzenia.",
	},
	{
		"sv", [2]string{"Ett ögonblick.", "Ett litet ögonblick till."},
		"Tyvärr, det fungerade inte.", "Tyvärr kan jag inte svara på det just nu.", "Förlåt, kan du säga det igen?",
		[2]string{"Låt mig se.", "Låt mig tänka."}, [2]string{"Ett ögonblick.", "En liten stund."},
		[3]string{"Är du kvar?", "Ta den tid du behöver, jag lyssnar.", "Kan jag hjälpa till med något mer?"},
		"Hej då.",
	},
	{
		"tr", [2]string{"Bir dakika lütfen.", "Bir dakika daha."},
		"Üzgünüm, bu olmadı.", "Üzgünüm, şu anda buna cevap veremiyorum.", "Affedersiniz, tekrar eder misiniz?",
		[2]string{"Bir bakayım.", "Bir düşüneyim."}, [2]string{"Bir dakika.", "Bir saniye."},
		[3]string{"Hâlâ orada mısınız?", "Acele etmeyin, dinliyorum.", "Başka bir konuda yardımcı olabilir miyim?"},
		"Hoşça kalın.",
	},
	{
		"ja", [2]string{"少々お待ちください。", "もう少々お待ちください。"},
		"申し訳ありません、うまくいきませんでした。", "申し訳ありません、今はお答えできません。", "恐れ入りますが、もう一度おっしゃっていただけますか？",
		[2]string{"少し考えますね。", "考えてみます。"}, [2]string{"少々お待ちください。", "ちょっと待ってくださいね。"},
		[3]string{"まだいらっしゃいますか？", "ゆっくりで大丈夫です。聞いています。", "ほかに何かお手伝いできることはありますか？"}, "失礼いたします。",
	},
	{
		"zh", [2]string{"请稍等。", "请再稍等一下。"},
		"抱歉，没有成功。", "抱歉，我现在无法回答这个问题。", "抱歉，您能再说一遍吗？",
		[2]string{"让我看看。", "让我想想。"}, [2]string{"请稍等。", "稍等一下。"},
		[3]string{"您还在吗？", "不着急，我在听。", "还有什么可以帮您的吗？"}, "再见。",
	},
	{
		"ko", [2]string{"잠시만 기다려 주세요.", "조금만 더 기다려 주세요."},
		"죄송합니다. 잘되지 않았습니다.", "죄송합니다. 지금은 답변드릴 수 없습니다.", "죄송합니다. 다시 한번 말씀해 주시겠어요?",
		[2]string{"글쎄요, 잠시만요.", "생각해 볼게요."}, [2]string{"잠시만요.", "잠깐만요."},
		[3]string{"아직 계신가요?", "천천히 하세요. 듣고 있습니다.", "더 도와드릴 일이 있을까요?"}, "안녕히 계세요.",
	},
}
