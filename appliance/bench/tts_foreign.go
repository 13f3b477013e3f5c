package bench

// foreignSentences are what voices of other languages than English are judged by,
// by the base of the tag.
func foreignSentences() map[string][]string {
	return map[string][]string{
		"es": {
			"El museo abre a las diez de la mañana y cierra a las seis de la tarde.",
			"El desayuno se sirve en la primera planta hasta las nueve y media.",
			"El tren al aeropuerto sale cada quince minutos de la estación central.",
			"Su habitación estará lista dentro de unos veinte minutos.",
			"Hay un jardín tranquilo detrás del edificio principal.",
			"Por favor, suba al tercer piso y gire a la izquierda.",
			"Los niños menores de doce años no necesitan entrada.",
			"La farmacia de enfrente está abierta toda la noche.",
			"Mañana hará frío y viento, con un poco de lluvia por la tarde.",
			"Puede dejar su abrigo y su bolso en el guardarropa.",
		},
		"fr": {
			"Le musée ouvre à dix heures du matin et ferme à six heures du soir.",
			"Le petit déjeuner est servi au premier étage jusqu'à neuf heures.",
			"Le train pour l'aéroport part toutes les quinze minutes.",
			"Votre chambre sera prête dans une vingtaine de minutes.",
			"Il y a un jardin tranquille derrière le bâtiment principal.",
			"Prenez l'ascenseur jusqu'au troisième étage et tournez à gauche.",
			"Les enfants de moins de douze ans n'ont pas besoin de billet.",
			"La pharmacie d'en face est ouverte toute la nuit.",
			"Demain il fera froid, avec du vent et un peu de pluie.",
			"Vous pouvez laisser votre manteau et votre sac au vestiaire.",
		},
		"it": {
			"Il museo apre alle dieci di mattina e chiude alle sei di sera.",
			"La colazione viene servita al primo piano fino alle nove e mezza.",
			"Il treno per l'aeroporto parte ogni quindici minuti.",
			"La sua camera sarà pronta tra circa venti minuti.",
			"C'è un giardino tranquillo dietro l'edificio principale.",
			"Prenda l'ascensore fino al terzo piano e giri a sinistra.",
			"I bambini sotto i dodici anni non hanno bisogno del biglietto.",
			"La farmacia di fronte è aperta tutta la notte.",
			"Domani farà freddo e ci sarà vento, con un po' di pioggia.",
			"Può lasciare il cappotto e la borsa al guardaroba.",
		},
		"pt": {
			"O museu abre às dez horas da manhã e fecha às seis da tarde.",
			"O café da manhã é servido no primeiro andar até as nove e meia.",
			"O trem para o aeroporto sai a cada quinze minutos.",
			"O seu quarto vai ficar pronto em cerca de vinte minutos.",
			"Há um jardim tranquilo atrás do prédio principal.",
			"Pegue o elevador até o terceiro andar e vire à esquerda.",
			"Crianças com menos de doze anos não precisam de ingresso.",
			"A farmácia do outro lado da rua fica aberta a noite toda.",
			"Amanhã vai fazer frio e vento, com um pouco de chuva.",
			"Você pode deixar o casaco e a bolsa na entrada.",
		},
		"hi": {
			"संग्रहालय सुबह दस बजे खुलता है और शाम छह बजे बंद होता है।",
			"हवाई अड्डे की ट्रेन हर पंद्रह मिनट में जाती है।",
			"आपका कमरा लगभग बीस मिनट में तैयार हो जाएगा।",
			"मुख्य इमारत के पीछे एक शांत बगीचा है।",
			"बारह साल से छोटे बच्चों को टिकट की ज़रूरत नहीं है।",
			"सामने वाली दवा की दुकान सारी रात खुली रहती है।",
			"कल ठंड होगी और थोड़ी बारिश भी हो सकती है।",
			"कृपया तीसरी मंज़िल पर जाइए और बाएँ मुड़िए।",
		},
	}
}

// foreignNumbers are the numbers of those sentences as they are said, by the base of
// the tag: an ear writes them in figures.
func foreignNumbers() map[string]map[string]string {
	return map[string]map[string]string{
		"es": {"3": "tercer", "6": "seis", "9": "nueve", "10": "diez", "12": "doce", "15": "quince", "20": "veinte"},
		"fr": {"6": "six", "6h": "six heures", "9": "neuf", "9h": "neuf heures", "10": "dix", "10h": "dix heures", "12": "douze", "15": "quinze"},
		"it": {"6": "sei", "9": "nove", "10": "dieci", "12": "dodici", "15": "quindici", "20": "venti"},
		"pt": {"6": "seis", "9": "nove", "10": "dez", "12": "doze", "15": "quinze", "20": "vinte"},
		"hi": {"6": "छह", "10": "दस", "12": "बारह", "15": "पंद्रह", "20": "बीस"},
	}
}
