package api

import (
	"net/http"
	"time"

	"parley/appliance/api/describe"
	"parley/fleet/door"
)

// row is one line of the table of routes. enforce.go holds every request to the
// row of its route, so handlers check none of it. The description of a route
// stands in the file of its handler, under the same method and path.
type row struct {
	method, path string
	access       describe.Access // who may use the route
	body         int64           // the largest request body, in bytes
	time         time.Duration   // how long the box may take to begin its answer
	stores       bool            // whether it adds to the data that the account stores
	handle       handler
}

// handler answers a request that enforce.go has admitted. answerError answers
// the error that it returns.
type handler func(w http.ResponseWriter, r *http.Request, by caller) error

// Who may use a route. A session of the console opens what an operator's key
// opens.
const (
	byAnyone   = describe.Anyone
	byLink     = describe.Link     // a client with a link that the box has signed
	bySecret   = describe.Secret   // a client with an API key and its secret key
	byToken    = describe.Token    // a client with an API key or an access token
	byKey      = describe.Key      // a client with an API key
	byBearer   = describe.Bearer   // a client with an API key, which it may send as Authorization: Bearer
	byOperator = describe.Operator // a client with an operator's API key
)

// The largest request bodies, in bytes. Bodies above answersBody are streamed to
// a file and never held in memory.
const (
	noBody         = 4 << 10   // the handler reads no body; some clients send {} anyway
	smallBody      = 16 << 10  // a form or an object of a few words
	sdpBody        = 64 << 10  // browsers' offers have 3 to 8 kB
	jsonBody       = 4 << 20   // the longest prompt or tool has a few hundred KB
	sheetBody      = 8 << 20   // a sheet whose English texts are all as long as allowed has 7 MB
	answersBody    = 24 << 20  // see large_body.go
	recordingBody  = 64 << 20  // the longest recording, as WAV of 48 kHz, 16 bit and two channels, takes 58 MB
	transcriptBody = 512 << 20 // an hour of WAV of 48 kHz and 16 bit takes 346 MB
	pluginBody     = 80 << 20  // the largest module takes 64 MiB; a tar holds other files too
)

// How long the box may take to begin its answer, counted from the last byte of
// the request body. The transfer of the body and of the answer depends on the
// client and is bounded in transfer.go.
const (
	quick     = 10 * time.Second  // made in memory: a stuck disk must not delay a health check
	normal    = 30 * time.Second  // database queries and single writes; proxies give up after 60 s
	slow      = 5 * time.Minute   // deletes, checks or installs gigabytes
	synthesis = 10 * time.Minute  // makes half an hour of speech, after waiting for other requests
	dictation = 2 * time.Hour     // transcribes the longest recording on a small box
	unlimited = time.Duration(-1) // sockets
)

// Whether a route adds to the data that the account stores. An account whose
// disk quota is used up may not use a route that stores.
const (
	stores  = true
	nothing = false
)

// table returns every route of the box, in the order of the descriptions. The
// columns are method, path, access, body, time, what it stores, and handler.
func (a *API) table() []row {
	configs, prompts, tools := a.configs(), a.prompts(), a.tools()
	// What needs the models of a box: see door.go.
	chat, live, call, work := a.atBox(door.Chat), a.atBox(door.Live), a.atBox(door.Call), a.atBox(door.Work)
	return []row{
		// Live chats: live.go, calls.go
		{"GET", "/v0/evi/chat", byToken, noBody, unlimited, stores, chat(a.chat)},
		{"GET", "/v0/assistant/chat", byToken, noBody, unlimited, stores, chat(a.chat)},
		{"GET", "/v0/evi/chat/{id}/connect", byToken, noBody, unlimited, nothing, live(a.connect)},
		{"POST", "/v0/evi/chat/{id}/send", byKey, jsonBody, normal, nothing, live(a.send)},
		{"GET", "/v0/evi/chat/{id}/turns", byKey, noBody, quick, nothing, live(a.turns)},
		{"POST", "/v0/evi/chat/webrtc", byToken, sdpBody, normal, stores, chat(a.ifCalls(a.call))},
		{"PATCH", "/v0/evi/chat/webrtc/calls/{id}", byToken, sdpBody, normal, nothing, call(a.ifCalls(a.changeCall))},
		{"DELETE", "/v0/evi/chat/webrtc/calls/{id}", byToken, noBody, normal, nothing, call(a.ifCalls(a.endCall))},

		// Access: token.go, status.go
		{"POST", "/oauth2-cc/token", bySecret, smallBody, normal, nothing, a.makeToken},
		{"GET", "/ca.crt", byAnyone, noBody, quick, nothing, a.authority},

		// Language models: models.go
		{"GET", "/v0/evi/language-models", byKey, noBody, quick, nothing, a.languageModels},

		// Chats of the past: chats.go, recording_links.go, recording.go, chat_search.go
		{"GET", "/v0/evi/chats", byKey, noBody, normal, nothing, a.listChats},
		{"GET", "/v0/evi/chats/{id}", byKey, noBody, normal, nothing, a.chatEvents},
		{"GET", "/v0/evi/chats/{id}/audio", byKey, noBody, normal, nothing, a.chatAudio},
		{"GET", "/v0/evi/chats/{id}/audio.wav", byLink, noBody, normal, nothing, a.hearChat},
		{"GET", "/v0/box/chats", byKey, noBody, normal, nothing, a.searchChats},

		// Chat groups: chat_groups.go, recording_links.go
		{"GET", "/v0/evi/chat_groups", byKey, noBody, normal, nothing, a.listChatGroups},
		{"GET", "/v0/evi/chat_groups/{id}", byKey, noBody, normal, nothing, a.chatGroup},
		{"DELETE", "/v0/evi/chat_groups/{id}", byKey, noBody, slow, nothing, a.deleteChatGroup},
		{"GET", "/v0/evi/chat_groups/{id}/audio", byKey, noBody, normal, nothing, a.chatGroupAudio},
		{"GET", "/v0/evi/chat_groups/{id}/events", byKey, noBody, normal, nothing, a.chatGroupEvents},

		// Text-to-speech: tts.go, conversion.go
		{"GET", "/v0/tts/stream/input", byToken, noBody, unlimited, stores, work(a.ttsInput)},
		{"POST", "/v0/tts", byToken, jsonBody, synthesis, stores, work(a.tts)},
		{"POST", "/v0/tts/file", byToken, jsonBody, synthesis, stores, work(a.ttsFile)},
		{"POST", "/v0/tts/stream/json", byToken, jsonBody, synthesis, stores, work(a.ttsStream)},
		{"POST", "/v0/tts/stream/file", byToken, jsonBody, synthesis, stores, work(a.ttsStreamFile)},
		{"GET", "/v0/tts/generations/{id}/file", byToken, noBody, synthesis, nothing, work(a.ttsRegenerate)},
		{"POST", "/v0/tts/voice_conversion/json", byToken, recordingBody, synthesis, stores, work(a.voiceConversion)},
		{"POST", "/v0/tts/voice_conversion/file", byToken, recordingBody, synthesis, stores,
			work(a.voiceConversionFile)},

		// OpenAI's API: openai.go, openai_speech.go, openai_transcription.go, openai_chat.go
		{"GET", "/v1/models", byBearer, noBody, quick, nothing, work(a.ifOpenAI(a.openAIModels))},
		{"GET", "/v1/models/{model}", byBearer, noBody, quick, nothing, work(a.ifOpenAI(a.openAIModelNamed))},
		{"POST", "/v1/audio/speech", byBearer, jsonBody, synthesis, nothing, work(a.ifOpenAI(parsed(a.openAISpeech)))},
		{"POST", "/v1/audio/transcriptions", byBearer, transcriptBody, dictation, nothing,
			work(a.ifOpenAI(a.openAITranscription))},
		{"POST", "/v1/chat/completions", byBearer, jsonBody, synthesis, nothing,
			work(a.ifOpenAI(parsed(a.openAIChat)))},

		// Analysis: models_stream.go, batch.go, batch_upload.go
		{"GET", "/v0/stream/models", byKey, noBody, unlimited, nothing, work(a.ifModelStream(a.streamModels))},
		{"POST", "/v0/batch/jobs", byKey, a.Limits.batchBody(), slow, stores, a.ifBatch(a.startBatchJob)},
		{"GET", "/v0/batch/jobs", byKey, noBody, normal, nothing, a.ifBatch(a.listBatchJobs)},
		{"GET", "/v0/batch/jobs/{id}", byKey, noBody, normal, nothing, a.ifBatch(a.batchJob)},
		{"DELETE", "/v0/batch/jobs/{id}", byKey, noBody, slow, nothing, a.ifBatch(a.deleteBatchJob)},
		{"GET", "/v0/batch/jobs/{id}/predictions", byKey, noBody, normal, nothing, a.ifBatch(a.batchPredictions)},
		{"GET", "/v0/batch/jobs/{id}/artifacts", byKey, noBody, normal, nothing, a.ifBatch(a.batchArtifacts)},

		// Configs: configs.go, versioned.go
		{"GET", "/v0/evi/configs", byKey, noBody, normal, nothing, configs.list},
		{"POST", "/v0/evi/configs", byKey, answersBody, normal, stores, a.oneLarge(configs.create)},
		{"GET", "/v0/evi/configs/{id}", byKey, noBody, normal, nothing, configs.versions},
		{"POST", "/v0/evi/configs/{id}", byKey, answersBody, normal, stores, a.oneLarge(configs.addVersion)},
		{"PATCH", "/v0/evi/configs/{id}", byKey, jsonBody, normal, stores, configs.rename},
		{"DELETE", "/v0/evi/configs/{id}", byKey, noBody, normal, nothing, configs.delete},
		{"GET", "/v0/evi/configs/{id}/version/{version}", byKey, noBody, normal, nothing, configs.get},
		{"PATCH", "/v0/evi/configs/{id}/version/{version}", byKey, jsonBody, normal, stores, configs.describe},
		{"DELETE", "/v0/evi/configs/{id}/version/{version}", byKey, noBody, normal, nothing, configs.deleteVersion},

		// Prompts: prompts.go, versioned.go
		{"GET", "/v0/evi/prompts", byKey, noBody, normal, nothing, prompts.list},
		{"POST", "/v0/evi/prompts", byKey, jsonBody, normal, stores, prompts.create},
		{"GET", "/v0/evi/prompts/{id}", byKey, noBody, normal, nothing, prompts.versions},
		{"POST", "/v0/evi/prompts/{id}", byKey, jsonBody, normal, stores, prompts.addVersion},
		{"PATCH", "/v0/evi/prompts/{id}", byKey, jsonBody, normal, stores, prompts.rename},
		{"DELETE", "/v0/evi/prompts/{id}", byKey, noBody, normal, nothing, prompts.delete},
		{"GET", "/v0/evi/prompts/{id}/version/{version}", byKey, noBody, normal, nothing, prompts.get},
		{"PATCH", "/v0/evi/prompts/{id}/version/{version}", byKey, jsonBody, normal, stores, prompts.describe},
		{"DELETE", "/v0/evi/prompts/{id}/version/{version}", byKey, noBody, normal, nothing, prompts.deleteVersion},

		// Tools: tools.go, versioned.go
		{"GET", "/v0/evi/tools", byKey, noBody, normal, nothing, tools.list},
		{"POST", "/v0/evi/tools", byKey, jsonBody, normal, stores, tools.create},
		{"GET", "/v0/evi/tools/{id}", byKey, noBody, normal, nothing, tools.versions},
		{"POST", "/v0/evi/tools/{id}", byKey, jsonBody, normal, stores, tools.addVersion},
		{"PATCH", "/v0/evi/tools/{id}", byKey, jsonBody, normal, stores, tools.rename},
		{"DELETE", "/v0/evi/tools/{id}", byKey, noBody, normal, nothing, tools.delete},
		{"GET", "/v0/evi/tools/{id}/version/{version}", byKey, noBody, normal, nothing, tools.get},
		{"PATCH", "/v0/evi/tools/{id}/version/{version}", byKey, jsonBody, normal, stores, tools.describe},
		{"DELETE", "/v0/evi/tools/{id}/version/{version}", byKey, noBody, normal, nothing, tools.deleteVersion},

		// Approved answers: box_answers.go, box_answers_report.go, box_answers_sheet.go
		{"POST", "/v0/box/answers/try", byKey, answersBody, normal, nothing, a.oneLarge(parsed(a.tryAnswers))},
		{"POST", "/v0/box/answers/check", byKey, answersBody, normal, nothing, a.oneLarge(parsed(a.checkAnswers))},
		{"GET", "/v0/box/answers/report", byOperator, noBody, normal, nothing, a.reportAnswers},
		{"GET", "/v0/box/answers/sheet", byKey, noBody, normal, nothing, a.answersSheet},
		{"POST", "/v0/box/answers/sheet", byKey, sheetBody, normal, nothing, a.readAnswersSheet},

		// Voices: voices.go
		{"GET", "/v0/tts/voices", byToken, noBody, normal, nothing, a.listVoices},
		{"POST", "/v0/tts/voices", byKey, jsonBody, normal, stores, parsed(a.saveVoice)},
		{"DELETE", "/v0/tts/voices", byKey, noBody, normal, nothing, a.deleteVoice},

		// Pronunciations: lexicon.go
		{"GET", "/v0/box/lexicon", byKey, noBody, normal, nothing, a.getLexicon},
		{"PUT", "/v0/box/lexicon", byKey, jsonBody, normal, stores, parsed(a.putLexicon)},
		{"GET", "/v0/box/lexicon/{word}", byKey, noBody, normal, nothing, a.getPronunciation},
		{"PUT", "/v0/box/lexicon/{word}", byKey, jsonBody, normal, stores, parsed(a.putPronunciation)},
		{"DELETE", "/v0/box/lexicon/{word}", byKey, noBody, normal, nothing, a.deletePronunciation},

		// Plugins: box_plugins.go
		{"GET", "/v0/box/plugins", byOperator, noBody, normal, nothing, a.ifPlugins(a.listPlugins)},
		{"POST", "/v0/box/plugin-offers", byOperator, pluginBody, slow, nothing, a.ifPlugins(a.examinePlugin)},
		{"POST", "/v0/box/plugins", byOperator, pluginBody, slow, stores, a.ifPlugins(a.installPlugin)},
		{"GET", "/v0/box/plugins/{name}", byOperator, noBody, normal, nothing, a.ifPlugins(a.getPlugin)},
		{"PUT", "/v0/box/plugins/{name}", byOperator, pluginBody, slow, stores, a.ifPlugins(a.upgradePlugin)},
		{"PATCH", "/v0/box/plugins/{name}", byOperator, jsonBody, normal, stores, a.ifPlugins(parsed(a.changePlugin))},
		{"DELETE", "/v0/box/plugins/{name}", byOperator, noBody, normal, nothing, a.ifPlugins(a.removePlugin)},
		{"POST", "/v0/box/plugins/{name}/call", byOperator, jsonBody, slow, nothing, a.ifPlugins(parsed(a.callPlugin))},
		{"GET", "/v0/box/plugins/{name}/logs", byOperator, noBody, normal, nothing, a.ifPlugins(a.pluginLog)},
		{"GET", "/v0/box/plugins/{name}/logs/events", byOperator, noBody, normal, nothing, a.ifPlugins(a.followPlugin)},
		{"GET", "/v0/box/plugins/{name}/figures", byOperator, noBody, normal, nothing, a.ifPlugins(a.pluginFigures)},

		// Keys of the box: box_keys.go
		{"GET", "/v0/box/keys", byOperator, noBody, normal, nothing, a.listKeys},
		{"POST", "/v0/box/keys", byOperator, smallBody, normal, stores, parsed(a.makeKey)},
		{"DELETE", "/v0/box/keys/{id}", byOperator, noBody, normal, nothing, a.revokeKey},
		{"POST", "/v0/box/keys/{id}/regenerate", byOperator, noBody, normal, nothing, a.regenerateKey},
		{"GET", "/v0/box/signing-keys/{name}", byOperator, noBody, normal, nothing, a.signingKey},
		{"POST", "/v0/box/signing-keys/{name}", byOperator, noBody, normal, nothing, a.newSigningKey},

		// Screens: box_kiosks.go
		{"POST", "/v0/box/kiosk-codes", byOperator, smallBody, normal, stores, parsed(a.makeKioskCode)},
		{"GET", "/v0/box/kiosks", byOperator, noBody, normal, nothing, a.listKiosks},
		{"DELETE", "/v0/box/kiosks/{id}", byOperator, noBody, normal, nothing, a.revokeKiosk},

		// Voice aliases: box_voice_aliases.go
		{"GET", "/v0/box/voice-aliases", byOperator, noBody, normal, nothing, a.listAliases},
		{"PUT", "/v0/box/voice-aliases/{name}", byOperator, jsonBody, normal, stores, parsed(a.putAlias)},
		{"DELETE", "/v0/box/voice-aliases/{name}", byOperator, noBody, normal, nothing, a.deleteAlias},

		// Webhooks: box_webhooks.go
		{"GET", "/v0/box/webhooks", byOperator, noBody, normal, nothing, a.listWebhooks},
		{"POST", "/v0/box/webhooks/retry", byOperator, jsonBody, slow, nothing, a.retryWebhooks},
		{"POST", "/v0/box/webhooks/forget", byOperator, jsonBody, slow, nothing, a.forgetWebhooks},
		{"POST", "/v0/box/webhooks/test", byOperator, smallBody, normal, nothing, parsed(a.testWebhook)},

		// Packs: box_packs.go
		{"GET", "/v0/box/packs", byOperator, noBody, slow, nothing, a.ifPacks(a.listPacks)},
		{"POST", "/v0/box/packs/{name}/pull", byOperator, noBody, normal, nothing, a.ifPacks(a.pullPack)},
		{"DELETE", "/v0/box/packs/{name}", byOperator, noBody, slow, nothing, a.ifPacks(a.removePack)},
		{"GET", "/v0/box/pack-pull/events", byOperator, noBody, normal, nothing, a.ifPacks(a.watchPull)},
		{"DELETE", "/v0/box/pack-pull", byOperator, noBody, normal, nothing, a.ifPacks(a.cancelPull)},

		// Health: box_health.go
		{"GET", "/v0/box/health", byOperator, noBody, normal, nothing, a.ifHealth(a.boxHealth)},
		{"GET", "/v0/box/health/events", byOperator, noBody, normal, nothing, a.ifHealth(a.watchHealth)},
		{"POST", "/v0/box/diagnosis", byOperator, noBody, slow, nothing, a.ifHealth(a.diagnose)},
		{"GET", "/v0/box/settings", byOperator, noBody, quick, nothing, a.ifHealth(a.settings)},

		// The audit log: box_acts.go
		{"GET", "/v0/box/acts", byOperator, noBody, slow, nothing, a.listActs},

		// A hub and its boxes: box_fleet.go, box_fleet_rollouts.go
		{"GET", "/v0/box/fleet", byOperator, noBody, quick, nothing, a.ifHub(a.fleet)},
		{"GET", "/v0/box/fleet/boxes", byOperator, noBody, normal, nothing, a.ifHub(a.listFleetBoxes)},
		{"POST", "/v0/box/fleet/boxes", byOperator, smallBody, normal, stores, a.ifHub(parsed(a.addFleetBox))},
		{"GET", "/v0/box/fleet/boxes/{name}", byOperator, noBody, normal, nothing, a.ifHub(a.getFleetBox)},
		{"PATCH", "/v0/box/fleet/boxes/{name}", byOperator, smallBody, normal, stores,
			a.ifHub(parsed(a.changeFleetBox))},
		{"DELETE", "/v0/box/fleet/boxes/{name}", byOperator, noBody, normal, nothing, a.ifHub(a.removeFleetBox)},
		{"POST", "/v0/box/fleet/boxes/{name}/join", byOperator, noBody, normal, stores, a.ifHub(a.joinFleetBox)},
		{"GET", "/v0/box/fleet/boxes/{name}/items", byOperator, noBody, normal, nothing, a.ifHub(a.listFleetBoxItems)},
		{"GET", "/v0/box/fleet/boxes/{name}/health", byOperator, noBody, normal, nothing, a.ifHub(a.fleetBoxHealth)},
		{"GET", "/v0/box/fleet/acts", byOperator, noBody, normal, nothing, a.ifHub(a.listFleetActs)},
		{"GET", "/v0/box/fleet/items", byOperator, noBody, normal, nothing, a.ifHub(a.listFleetItems)},
		{"GET", "/v0/box/fleet/rollouts", byOperator, noBody, normal, nothing, a.ifHub(a.listRollouts)},
		{"POST", "/v0/box/fleet/rollouts", byOperator, smallBody, slow, stores, a.ifHub(parsed(a.beginRollout))},
		{"GET", "/v0/box/fleet/rollouts/{id}", byOperator, noBody, normal, nothing, a.ifHub(a.getRollout)},
		{"POST", "/v0/box/fleet/rollouts/{id}/stop", byOperator, noBody, normal, nothing, a.ifHub(a.stopRollout)},
		{"POST", "/v0/box/fleet/rollouts/{id}/continue", byOperator, noBody, normal, nothing,
			a.ifHub(a.continueRollout)},

		// The page of a screen: kiosks.go, pages.go
		{"POST", "/v0/box/kiosks", byAnyone, smallBody, normal, stores, parsed(a.pairKiosk)},
		{"GET", "/kiosk", byAnyone, noBody, quick, nothing, a.page("kiosk.html")},
		{"GET", "/kiosk/kiosk.js", byAnyone, noBody, quick, nothing, a.page("kiosk.js")},
		{"GET", "/kiosk/kiosk.css", byAnyone, noBody, quick, nothing, a.page("kiosk.css")},

		// The console: pages.go, sessions.go, password.go, setup.go
		{"GET", "/console/console.js", byAnyone, noBody, quick, nothing, a.page("console.js")},
		{"GET", "/console/shared.js", byAnyone, noBody, quick, nothing, a.page("shared.js")},
		{"GET", "/console/answers.js", byAnyone, noBody, quick, nothing, a.page("answers.js")},
		{"GET", "/console/expression.js", byAnyone, noBody, quick, nothing, a.page("expression.js")},
		{"GET", "/console/fleet.js", byAnyone, noBody, quick, nothing, a.page("fleet.js")},
		{"GET", "/console/plots.js", byAnyone, noBody, quick, nothing, a.page("plots.js")},
		{"GET", "/console/console.css", byAnyone, noBody, quick, nothing, a.page("console.css")},
		{"GET", "/v0/box/sign-in", byAnyone, noBody, quick, nothing, a.waysToSignIn},
		{"POST", "/v0/box/sessions", byAnyone, smallBody, normal, nothing, a.signIn},
		{"GET", "/v0/box/sessions", byOperator, noBody, normal, nothing, a.listSessions},
		{"DELETE", "/v0/box/sessions/{id}", byOperator, noBody, normal, nothing, a.endSession},
		{"GET", "/v0/box/operator", byOperator, noBody, normal, nothing, a.operator},
		{"PATCH", "/v0/box/operator", byOperator, smallBody, normal, nothing, a.switchAccount},
		{"PUT", "/v0/box/password", byOperator, smallBody, normal, nothing, parsed(a.setPassword)},

		// Set-up: setup.go
		{"GET", "/v0/box/setup", byAnyone, noBody, normal, nothing, a.ifSetUp(a.getSetUp)},
		{"POST", "/v0/box/setup/check", byAnyone, smallBody, normal, nothing, a.ifSetUp(a.checkSetUp)},
		{"POST", "/v0/box/setup", byAnyone, smallBody, normal, nothing, a.ifSetUp(a.setUp)},
		{"POST", "/v0/box/restart", byOperator, noBody, normal, nothing, a.ifSetUp(a.restart)},

		// The box's loudspeaker and microphone: speaker.go
		{"GET", "/v0/box/kiosk", byOperator, noBody, quick, nothing, a.ifSpeaker(a.speakerStatus)},
		{"POST", "/v0/box/kiosk/start", byOperator, noBody, quick, nothing, a.ifSpeaker(a.startSpeaker)},
		{"POST", "/v0/box/kiosk/stop", byOperator, noBody, quick, nothing, a.ifSpeaker(a.stopSpeaker)},

		// The telephone: phone.go, phone_stream.go
		{"GET", "/v0/evi/twilio", byKey, noBody, normal, stores, a.ifPhoneStreams(a.phoneStreamTwiML)},
		{"POST", "/v0/evi/twilio", byKey, smallBody, normal, stores, a.ifPhoneStreams(a.phoneStreamTwiML)},
		{"GET", "/v0/evi/twilio/stream", byAnyone, noBody, unlimited, nothing, a.ifPhoneStreams(a.phoneStream)},
		{"GET", "/v0/box/phone", byOperator, noBody, quick, nothing, a.ifPhone(a.phoneStatus)},
		{"POST", "/v0/box/phone/calls", byOperator, jsonBody, normal, stores, a.ifPhone(parsed(a.phoneCall))},
		{"DELETE", "/v0/box/phone/calls/{id}", byOperator, noBody, quick, nothing, a.ifPhone(a.hangUpPhone)},
		{"POST", "/v0/box/phone/calls/{id}/transfer", byOperator, smallBody, slow, nothing,
			a.ifPhone(parsed(a.transferPhone))},

		// The box: status.go, pages.go, metrics.go, documents.go
		{"GET", "/{$}", byAnyone, noBody, quick, nothing, a.home},
		{"GET", "/healthz", byAnyone, noBody, quick, nothing, a.health},
		{"GET", "/readyz", byAnyone, noBody, quick, nothing, a.readiness},
		{"GET", "/metrics", byOperator, noBody, normal, nothing, a.metrics},
		{"GET", "/docs", byAnyone, noBody, quick, nothing, a.docsPage},
		{"GET", "/openapi.json", byAnyone, noBody, quick, nothing, a.openAPI},
		{"GET", "/asyncapi.json", byAnyone, noBody, quick, nothing, a.asyncAPI},
	}
}
