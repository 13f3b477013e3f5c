// What the page says, by language. English is what others fall back to.
const english = {
  pairTitle: "Pair this screen",
  pairHelp: "On the box, run: parley kiosk pair. Then type the code that it shows.",
  code: "Code", pair: "Pair",
  pairWrong: "This code is not known, or its time is over. Ask for a new one.",
  pairBusy: "Too many tries. Wait a minute, then try again.",
  pairFailed: "The box cannot be reached. Try again.",
  talk: "Talk", stop: "Stop", type: "Type instead", typeLabel: "Your question", send: "Send",
  ready: "Touch “Talk” and speak", connecting: "One moment …", listening: "I am listening", thinking: "Thinking …",
  speaking: "Speaking", tool: "Looking that up …", offline: "The box is not there. It comes back by itself.",
  full: "All places are taken. Please try again in a moment.",
  noMicrophone: "There is no microphone, or it may not be used. You can type instead.",
  revoked: "This screen is not paired any more.", over: "The conversation is over.",
  you: "You", box: "Assistant", log: "What was said",
};
export type Word = keyof typeof english;
const all: Record<string, Partial<Record<Word, string>>> = {
  en: english,
  de: {
    pairTitle: "Diesen Bildschirm koppeln", pairHelp: "Auf der Box: parley kiosk pair. Dann hier den Code eingeben, den sie zeigt.",
    code: "Code", pair: "Koppeln", pairWrong: "Dieser Code ist unbekannt oder abgelaufen. Bitte einen neuen holen.",
    pairBusy: "Zu viele Versuche. Bitte eine Minute warten.", pairFailed: "Die Box ist nicht erreichbar. Bitte noch einmal versuchen.",
    talk: "Sprechen", stop: "Beenden", type: "Lieber tippen", typeLabel: "Ihre Frage", send: "Senden",
    ready: "„Sprechen“ berühren und fragen", connecting: "Einen Moment …", listening: "Ich höre zu", thinking: "Ich überlege …",
    speaking: "Ich spreche", tool: "Ich sehe nach …", offline: "Die Box ist nicht da. Sie kommt von selbst wieder.",
    full: "Alle Plätze sind belegt. Bitte gleich noch einmal versuchen.",
    noMicrophone: "Kein Mikrofon, oder es darf nicht benutzt werden. Sie können tippen.",
    revoked: "Dieser Bildschirm ist nicht mehr gekoppelt.", over: "Das Gespräch ist zu Ende.", you: "Sie", box: "Assistent", log: "Was gesagt wurde",
  },
  fr: {
    pairTitle: "Associer cet écran", pairHelp: "Sur le boîtier : parley kiosk pair. Saisissez ensuite le code affiché.",
    code: "Code", pair: "Associer", pairWrong: "Ce code est inconnu ou périmé. Demandez-en un autre.",
    pairBusy: "Trop d’essais. Attendez une minute.", pairFailed: "Le boîtier est injoignable. Réessayez.",
    talk: "Parler", stop: "Arrêter", type: "Écrire", typeLabel: "Votre question", send: "Envoyer",
    ready: "Touchez « Parler » et posez votre question", connecting: "Un instant …", listening: "Je vous écoute", thinking: "Je réfléchis …",
    speaking: "Je parle", tool: "Je cherche …", offline: "Le boîtier est absent. Il reviendra tout seul.",
    full: "Toutes les places sont prises. Réessayez dans un instant.",
    noMicrophone: "Pas de microphone, ou il est interdit. Vous pouvez écrire.",
    revoked: "Cet écran n’est plus associé.", over: "La conversation est terminée.", you: "Vous", box: "Assistant", log: "Ce qui a été dit",
  },
  es: {
    pairTitle: "Vincular esta pantalla", pairHelp: "En la caja: parley kiosk pair. Después escriba el código que muestra.",
    code: "Código", pair: "Vincular", pairWrong: "Este código no se conoce o ha caducado. Pida otro.",
    pairBusy: "Demasiados intentos. Espere un minuto.", pairFailed: "No se puede llegar a la caja. Inténtelo otra vez.",
    talk: "Hablar", stop: "Parar", type: "Escribir", typeLabel: "Su pregunta", send: "Enviar",
    ready: "Toque «Hablar» y pregunte", connecting: "Un momento …", listening: "Le escucho", thinking: "Pensando …",
    speaking: "Hablando", tool: "Lo estoy buscando …", offline: "La caja no está. Volverá sola.",
    full: "Todas las plazas están ocupadas. Inténtelo en un momento.",
    noMicrophone: "No hay micrófono o no se puede usar. Puede escribir.",
    revoked: "Esta pantalla ya no está vinculada.", over: "La conversación ha terminado.", you: "Usted", box: "Asistente", log: "Lo que se dijo",
  },
};

// The language of the page: ?lang=de in the address, else the browser's.
export const language = [new URLSearchParams(location.search).get("lang"), ...navigator.languages]
  .map((tag) => (tag ?? "").toLowerCase().split("-")[0]).find((tag) => tag in all) ?? "en";

export const word = (w: Word): string => all[language]?.[w] ?? english[w];
