package language

// common is what listeners of all languages do: all that is known of a language
// that is not known.
var common = Language{
	unknown:      "I'm sorry, I don't know that.",
	backchannels: "mm, mhm, mmhm, mm hm, mm hmm, mmhmm, mhmm, hm, hmm, uh huh, aha, ah, ahh, oh, ohh, ok, okay, okey",
	holds:        "um, umm, uhm, uh, uhh, er, err, erm, hmm",
}

// table has the languages in which the voices and transcribers that a box can
// have are good. Backchannels hold no word that answers nothing but a question
// in most talk, except where listeners do say it to go on ("yes", "да", "はい"):
// after a question it is an answer whatever stands here.
var table = [...]Language{
	{
		tag:     "en",
		unknown: "I'm sorry, I don't know that.",
		yes:     "Yes, Yeah, Sure, Certainly, Absolutely, Of course",
		backchannels: "right, yeah, yes, yep, yup, yea, sure, i see, got it, good, great, cool, nice, true, exactly, " +
			"of course, " +
			"alright, all right, that s right, fair enough, makes sense, wow, oh wow, really, i know, fine, perfect, " +
			"go on, uh oh",
		holds: "and, and then, and so, but, or, because, cause, if, when, while, which, the, a, an, to, of, for, " +
			"with, from, at, my, your, his, her, our, their, i, i m, i d, i ll, it s, let me see, let me think, you " +
			"know, i mean, than, into, very",
		leans: "is, are, was, were, be, been, am, has, currently, about, between, without, some, every, i want, i " +
			"need, i have, you have, we have, they have, i would like, i would love, i d love, is there, are there, " +
			"can you, could you, can i, could i, would you, do you, have you, are you, however, otherwise, therefore",
		stands: "it is, it was, that is, that was, this is, he is, he was, she is, she was, they are, they were, we " +
			"are, we were, you are, you were, i am, i was, here is, to be, it has, what i want, all i want, what i " +
			"need, all i need, what i have, all i have",
		opens: "to, if, when, whenever, while, although, though, because, since, unless, until, once, after, " +
			"before, at the, in order, as soon as, as long as, whether",
		begins: "well, so, and, but, wait, no wait, hold on, hang on, actually, excuse me, sorry, hey, hello, " +
			"listen, look, one moment, just a moment, now, then, please, um, uh",
	},
	{
		tag:     "de",
		answer:  "Antworte auf Deutsch.",
		unknown: "Das weiß ich leider nicht.",
		yes:     "Ja, Natürlich, Sicher, Selbstverständlich, Gerne",
		backchannels: "ja, jaja, ja ja, jo, jep, klar, genau, richtig, stimmt, gut, sehr gut, alles klar, in " +
			"ordnung, verstehe, ich verstehe, verstanden, " +
			"ach, ach so, achso, na klar, schön, super, toll, prima, natürlich, eben, soso, wirklich, ach ja, echt, " +
			"na ja, tja",
		holds: "und, und dann, aber, oder, weil, wenn, dass, ob, äh, ähm, öhm, der, die, das heißt, den, dem, des, " +
			"ein, einen, einem, einer, mein, meinen, meinem, zum, zur, von, vom, für, im, am, beim, sozusagen, mal " +
			"sehen",
		leans: "ich möchte, ich will, ich brauche, ich hätte, ich hätte gern, ich hätte gerne, ich würde, ich würde " +
			"gern, ich würde gerne, gibt es, können sie, kannst du, könnten sie, haben sie, hast du, mit, nach, " +
			"über, ohne, zwischen",
		opens: "wenn, falls, weil, obwohl, während, nachdem, bevor, sobald, solange, damit, um zu, ob",
		begins: "also, und, aber, nun, tja, moment, warte, warten sie, entschuldigung, verzeihung, hallo, hör mal, " +
			"na ja, so, ähm, äh, bitte",
	},
	{
		tag:     "fr",
		answer:  "Réponds en français.",
		unknown: "Désolé, je ne le sais pas.",
		yes:     "Oui, Bien sûr, Certainement, Absolument",
		backchannels: "oui, ouais, d accord, bien, très bien, bien sûr, je vois, voilà, c est ça, exactement, tout à " +
			"fait, entendu, compris, ça marche, super, parfait, " +
			"ah bon, ah oui, oui oui, hum, ben oui, vraiment, en effet, effectivement",
		holds: "et, et puis, et alors, mais, ou, donc, parce que, car, si, quand, que, qui, euh, heu, le, la, les, " +
			"l, un, une, des, du, de, d, à, au, aux, pour, chez, mon, ma, mes, ton, ta, votre, je, j, c est, très, " +
			"ben, bah",
		leans: "je voudrais, j aimerais, je veux, j ai besoin, est ce que, il y a, pouvez vous, peux tu, avez vous, " +
			"avec, sans, entre",
		opens: "si, quand, lorsque, parce que, puisque, pendant que, avant de, après avoir, pour que, dès que, bien " +
			"que, alors que",
		begins: "alors, et, mais, bon, ben, bah, attends, attendez, excusez moi, pardon, écoute, écoutez, allô, " +
			"bonjour, euh, donc, en fait",
	},
	{
		tag:     "es",
		answer:  "Responde en español.",
		unknown: "Lo siento, eso no lo sé.",
		yes:     "Sí, Claro, Por supuesto, Desde luego",
		backchannels: "sí, si, ya, claro, vale, bien, muy bien, de acuerdo, entiendo, entendido, ya veo, exacto, " +
			"exactamente, eso es, así es, cierto, correcto, perfecto, " +
			"por supuesto, ajá, bueno, genial, sí sí, de verdad, estupendo, desde luego",
		holds: "y, y luego, y entonces, e, pero, o, u, así que, porque, si, cuando, que, eh, pues, el, la, los, " +
			"las, un, una, unos, unas, de, del, a, al, con, para, por, en, mi, mis, tu, su, muy, o sea, a ver",
		leans:  "quiero, quisiera, me gustaría, necesito, entre, sin, sobre",
		stands: "lo que quiero, lo que necesito",
		opens:  "si, cuando, porque, aunque, mientras, antes de, después de, para que, ya que, en cuanto",
		begins: "pues, bueno, entonces, y, pero, espera, espere, perdón, perdona, disculpe, oye, oiga, mira, mire, " +
			"hola, a ver, eh, este",
	},
	{
		tag:     "it",
		answer:  "Rispondi in italiano.",
		unknown: "Mi dispiace, questo non lo so.",
		yes:     "Sì, Certo, Certamente, Assolutamente",
		backchannels: "sì, si, già, certo, va bene, bene, molto bene, d accordo, capisco, capito, ho capito, esatto, " +
			"esattamente, giusto, vero, perfetto, " +
			"naturalmente, ottimo, sì sì, davvero, ecco, bello",
		holds: "e, e poi, ed, ma, o, oppure, quindi, perché, se, quando, che, ehm, eh, cioè, il, lo, la, i, gli, " +
			"le, l, un, uno, una, di, del, della, dei, d, a, al, alla, con, per, in, nel, nella, da, dal, mio, mia, " +
			"tuo, suo, molto, dunque, beh",
		leans: "vorrei, mi piacerebbe, ho bisogno, ci sono, senza, tra, fra",
		opens: "se, quando, perché, anche se, mentre, prima di, poiché, siccome, appena",
		begins: "allora, e, ma, beh, bene allora, aspetta, aspetti, scusa, scusi, senti, senta, guarda, guardi, " +
			"ciao, pronto, dunque, ehm, ecco allora",
	},
	{
		tag:     "pt",
		answer:  "Responde em português.",
		unknown: "Desculpe, isso eu não sei.",
		yes:     "Sim, Claro, Certamente, Com certeza",
		backchannels: "sim, é, pois, pois é, claro, certo, tá, tá bom, está bem, está bom, bem, muito bem, entendi, " +
			"entendo, percebo, percebi, exato, exatamente, isso, isso mesmo, " +
			"verdade, perfeito, com certeza, beleza, legal, ótimo, ahã, sei",
		holds: "e, e depois, e aí, mas, ou, então, porque, se, quando, que, ã, é que, tipo, o, a, os, as, um, uma, " +
			"de, do, da, dos, das, em, no, na, com, para, pra, por, pelo, pela, meu, minha, seu, sua, muito, quer dizer",
		leans:  "quero, queria, gostaria, preciso, sem, entre, sobre",
		stands: "o que quero, o que preciso",
		opens:  "se, quando, porque, embora, enquanto, antes de, depois de, para que, já que, assim que",
		begins: "então, bom, e, mas, espera, espere, desculpa, desculpe, com licença, olha, olhe, escuta, oi, olá, " +
			"pois então, quer dizer",
	},
	{
		tag:     "nl",
		answer:  "Antwoord in het Nederlands.",
		unknown: "Het spijt me, dat weet ik niet.",
		yes:     "Ja, Natuurlijk, Zeker, Jazeker",
		backchannels: "ja, jaja, ja ja, jawel, juist, precies, klopt, goed, heel goed, prima, oké, in orde, begrijp " +
			"ik, ik begrijp het, ik snap het, snap ik, natuurlijk, " +
			"zeker, inderdaad, mooi, leuk, echt, o ja, ah zo, duidelijk",
		holds: "en, en dan, en toen, maar, of, dus, want, omdat, als, dat, wanneer, eh, ehm, de, het, een, van, " +
			"met, naar, mijn, jouw, haar, even kijken",
		leans:  "ik wil, ik wil graag, ik zou, ik zou graag, kunt u, kun je, heeft u, heb je, zonder, tussen, over",
		opens:  "als, wanneer, omdat, hoewel, terwijl, nadat, voordat, zodra, zolang, tenzij",
		begins: "nou, dus, en, maar, wacht, wacht even, sorry, pardon, luister, kijk, hallo, eh, ehm, even kijken",
	},
	{
		tag:     "ru",
		answer:  "Отвечай по-русски.",
		unknown: "К сожалению, этого я не знаю.",
		yes:     "Да, Конечно, Разумеется",
		backchannels: "да, да да, ага, угу, так, хорошо, ладно, понятно, понял, поняла, ясно, конечно, точно, верно, " +
			"правильно, именно, вот как, ну да, " +
			"отлично, здорово, окей, ок, м, мм, мхм, а, о, правда, согласен, согласна",
		holds: "и, и потом, а, а потом, но, или, потому что, если, чтобы, который, которая, э, ээ, эм, ну, в, во, " +
			"на, с, со, к, ко, по, для, из, от, об, мой, моя, моё, очень, так что, значит, то есть, короче",
		leans:  "я хочу, я хотел бы, я хотела бы, мне нужно, мне нужен, мне нужна, у вас есть, без, между, через, про",
		stands: "что я хочу, что мне нужно",
		opens:  "если, когда, потому что, хотя, пока, после того как, перед тем как, чтобы, так как",
		begins: "ну, и, но, а, так, значит, подожди, подождите, погоди, постой, извини, извините, простите, слушай, " +
			"слушайте, смотри, алло, привет, э, эм, короче",
	},
	{
		tag:     "uk",
		answer:  "Відповідай українською.",
		unknown: "На жаль, цього я не знаю.",
		yes:     "Так, Звичайно, Авжеж",
		backchannels: "так, ага, угу, добре, гаразд, зрозуміло, зрозумів, зрозуміла, ясно, звичайно, точно, " +
			"правильно, саме так, ну так, чудово, окей, м, мм, а, о, справді, авжеж",
		holds: "і, й, та, а, а потім, але, або, чи, бо, тому що, якщо, щоб, який, яка, е, ем, ну, в, у, на, " +
			"з, із, до, по, для, від, мій, моя, дуже, тобто",
		leans: "я хочу, я хотів би, я хотіла б, мені потрібно, мені потрібен, мені потрібна, без, між, через, " +
			"про",
		stands: "що я хочу, що мені потрібно",
		opens:  "якщо, коли, тому що, хоча, поки, щоб, оскільки",
		begins: "ну, і, але, а, отже, зачекай, зачекайте, чекай, вибач, вибачте, перепрошую, слухай, слухайте, " +
			"дивись, алло, привіт, е, ем",
	},
	{
		tag:     "pl",
		answer:  "Odpowiadaj po polsku.",
		unknown: "Niestety tego nie wiem.",
		yes:     "Tak, Oczywiście, Jasne, Pewnie",
		backchannels: "tak, tak tak, no, no tak, aha, mhm, dobrze, dobra, jasne, rozumiem, oczywiście, właśnie, " +
			"dokładnie, racja, zgadza się, świetnie, super, pewnie, naprawdę, okej",
		holds: "i, i potem, a, ale, albo, lub, więc, bo, ponieważ, jeśli, jeżeli, kiedy, gdy, że, żeby, " +
			"który, która, yy, ee, eem, w, we, na, z, ze, do, po, dla, od, o, przy, mój, moja, bardzo, czyli",
		leans:  "chcę, chciałbym, chciałabym, potrzebuję, bez, między, przez",
		stands: "czego chcę, czego potrzebuję",
		opens:  "jeśli, jeżeli, kiedy, gdy, ponieważ, chociaż, zanim, dopóki, żeby, skoro",
		begins: "no, no więc, więc, i, ale, czekaj, poczekaj, proszę poczekać, przepraszam, słuchaj, proszę " +
			"pana, proszę pani, halo, cześć, yy, eem",
	},
	{
		tag:     "sv",
		answer:  "Svara på svenska.",
		unknown: "Tyvärr, det vet jag inte.",
		yes:     "Ja, Jo, Självklart, Visst, Absolut",
		backchannels: "ja, jaa, jo, jaja, just det, precis, okej, bra, mycket bra, visst, självklart, jag förstår, " +
			"förstår, jaså, exakt, det stämmer, stämmer, fint, toppen, verkligen, mm",
		holds: "och, och sen, men, eller, för att, eftersom, om, när, att, som, eh, öh, en, ett, min, mitt, " +
			"mina, mycket",
		leans:  "jag vill, jag skulle vilja, jag behöver, kan du, kan ni, finns det, har ni, utan, mellan, med",
		opens:  "om, när, eftersom, medan, innan, efter att, för att, så fort",
		begins: "alltså, så, och, men, vänta, ursäkta, förlåt, hör du, lyssna, hallå, hej, eh, öh, jo men",
	},
	{
		tag:     "tr",
		answer:  "Türkçe cevap ver.",
		unknown: "Üzgünüm, bunu bilmiyorum.",
		yes:     "Evet, Tabii, Elbette, Kesinlikle",
		backchannels: "evet, tamam, tabii, tabi, peki, olur, anladım, anlıyorum, doğru, aynen, öyle, güzel, iyi, çok " +
			"iyi, hı hı, hıhı, elbette, kesinlikle, gerçekten mi, ha",
		holds: "ve, ve sonra, ama, fakat, ya da, veya, çünkü, eğer, ki, şey, ıı, ee, için, ile, gibi, benim, " +
			"yani",
		opens: "eğer",
		begins: "şey, yani, ama, ve, bekle, bekleyin, bir dakika, pardon, affedersiniz, özür dilerim, bak, " +
			"bakın, dinle, alo, merhaba, ee",
	},
	{
		tag:     "ja",
		joined:  true,
		answer:  "日本語で答えてください。",
		unknown: "申し訳ありません、それはわかりません。",
		yes:     "はい, ええ, もちろん",
		backchannels: "はい, はいはい, ええ, うん, うんうん, ふん, ふむ, ふーん, へえ, へー, ほう, ああ, あー, あ, おお, そう, そうですか, そうですね, そうだね, " +
			"そうなんですか, そうなんだ, そうか, なるほど, なるほどね, たしかに, 確かに, わかりました, 分かりました, わかった, 分かった, オーケー, オッケー, 了解, 了解です, ですね, ね, " +
			"本当, 本当ですか, ほんと",
		holds: "えーと, えっと, えと, ええと, あの, あのー, その, そのー, それで, それから, そして, でも, けど, けれど, けれども, だけど, が, は, を, に, へ, " +
			"ので, とか, なんか, たとえば, 例えば, もし, つまり",
		begins: "えーと, えっと, あの, あのー, でも, じゃあ, では, それで, ちょっと, ちょっと待って, ちょっと待ってください, 待って, 待ってください, すみません, ごめん, " +
			"ごめんなさい, ねえ, もしもし, まあ, いや, さて",
	},
	{
		tag:     "zh",
		joined:  true,
		answer:  "请用中文回答。",
		unknown: "抱歉，这个我不知道。",
		yes:     "是的, 可以, 当然, 有的, 能",
		backchannels: "嗯, 嗯嗯, 哦, 噢, 喔, 啊, 唔, 是, 是的, 是啊, 是吗, 对, 对对, 对的, 对啊, 好, 好的, 好吧, 好啊, 行, 可以, 没错, 明白, 明白了, 知道, " +
			"知道了, 我知道了, 懂了, 了解, 当然, 原来如此, 这样, 这样啊, 真的, 真的吗, 不错, 當然, 對, 對對, 沒錯, 原來如此, 這樣, 是嗎, 真的嗎",
		holds: "那个, 那個, 这个, 這個, 呃, 额, 就是, 就是说, 就是說, 然后, 然後, 还有, 還有, 但是, 可是, 不过, 不過, 因为, 因為, 所以, 如果, 或者, 而且, " +
			"和, 跟, 把, 被, 比如, 比如说, 我想, 我要, 一个, 一個",
		leans: "我需要, 有没有, 有沒有, 你能, 您能",
		opens: "如果, 因为, 因為, 虽然, 雖然, 要是, 除非, 为了, 為了",
		begins: "那个, 那個, 呃, 额, 那, 那么, 那麼, 但是, 可是, 不过, 不過, 然后, 然後, 等等, 等一下, 等一等, 不好意思, 对不起, 對不起, 请问, 請問, 喂, 你好, " +
			"其实, 其實",
	},
	{
		tag:     "ko",
		answer:  "한국어로 대답해 주세요.",
		unknown: "죄송하지만 그건 잘 모르겠습니다.",
		yes:     "네, 예, 물론",
		backchannels: "네, 네네, 네 네, 예, 응, 응응, 음, 어, 아, 아하, 그래, 그래요, 그렇구나, 그렇군요, 그렇죠, 그쵸, 맞아, 맞아요, 맞습니다, 알겠어요, 알겠습니다, " +
			"알았어, 알았어요, 좋아, 좋아요, 오, 와, 정말, 정말요, 진짜, 진짜요, 물론이죠, 오케이",
		holds:  "그, 저, 저기, 그리고, 그래서, 그런데, 근데, 하지만, 그러면, 그럼, 왜냐하면, 만약, 또는, 또, 어, 음, 뭐, 뭐지, 그러니까, 그니까, 이제, 막, 약간",
		opens:  "만약, 만일",
		begins: "저, 저기, 저기요, 그런데, 근데, 그리고, 그럼, 자, 잠깐, 잠깐만, 잠깐만요, 잠시만요, 죄송합니다, 죄송한데, 실례합니다, 여보세요, 있잖아, 아니",
	},
}
