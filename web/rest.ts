// Code generated from the description of the paths; DO NOT EDIT. See web/bundle.

// A box with the text of the file with which it joins.
export type AddedFleetBox = {
  box: ReturnFleetBox;
  join: string;
};

// An approved answer.
export type AnswerItem = {
  // Ways to ask for it
  ask: Array<string>;
  // A to z, 0 to 9 and hyphens
  id: string;
  // May contain variables: {{name}}
  say: string;
};

// The approved answers of a config: what the assistant says word for word when a user asks for it.
export type Answers = {
  items: Array<AnswerItem>;
  mode?: "first" | "only";
  // What the assistant says if no answer fits and the language model may not answer.
  unknown?: string;
};

// A pair of approved answers that seem to be asked for alike.
export type AnswersConflict = {
  // Two
  items: Array<ConflictingAnswer>;
  // 1: with the same words
  score: number;
};

// The format and rate of the sound.
export type AudioEncoding = {
  format: "mp3" | "pcm" | "wav";
  // Hz
  sample_rate: number;
};

// Why a file, or one model of it, has no predictions.
export type BatchError = {
  file: string;
  message: string;
};

// The options of the face model.
export type BatchFace = {
  descriptions?: Unconfigurable;
  facs?: Unconfigurable;
  // Frames of a video that are analysed, per second
  fps_pred: number;
  // Groups the faces of a file by person
  identify_faces: boolean;
  // Side of the box, in pixels
  min_face_size: number;
  // Faces with a lower probability are left out, 0 to 1
  prob_threshold: number;
  // Puts pictures of the faces into the artifacts
  save_faces: boolean;
};

// A file that was uploaded with a request.
export type BatchFile = {
  content_type?: string;
  filename?: string;
  // In hex
  md5sum: string;
};

// A job as lists and details show it.
export type BatchJob = {
  job_id: string;
  request: BatchRequest;
  state: StateInference;
  // JobType
  type: string;
};

// The options of the language model.
export type BatchLanguage = {
  granularity?: "word" | "sentence" | "utterance" | "conversational_turn" | "passage";
  identify_speakers: boolean;
  sentiment?: Unconfigurable;
  toxicity?: Unconfigurable;
};

// The models that a job runs.
export type BatchModels = {
  burst?: Unconfigurable;
  face?: BatchFace;
  facemesh?: Unconfigurable;
  language?: BatchLanguage;
  ner?: BatchNER;
  prosody?: BatchProsody;
};

// The options of the model that finds names.
export type BatchNER = {
  identify_speakers: boolean;
};

// The options of the prosody model.
export type BatchProsody = {
  granularity?: "word" | "sentence" | "utterance" | "conversational_turn" | "passage";
  identify_speakers: boolean;
  // Takes the place of Granularity
  window?: BatchWindow;
};

// What a job was asked to do.
export type BatchRequest = {
  callback_url?: string;
  // May be empty
  files: Array<BatchFile>;
  // The models; default: all, with their default options.
  models?: BatchModels;
  // Has no effect: a box sends no mail.
  notify: boolean;
  text?: Array<string>;
  // How speech is transcribed; null turns transcription off.
  transcription: BatchTranscription | null;
  urls?: Array<string>;
};

export type BatchSource = {
  // Of a file.
  content_type?: string;
  // Of a file.
  filename?: string;
  // Of a file, in hex.
  md5sum?: string;
  type: "url" | "file" | "text";
  // Of a url.
  url?: string;
};

// Says how speech is transcribed.
export type BatchTranscription = {
  // Utterances below it are left out, 0 to 1
  confidence_threshold: number;
  identify_speakers: boolean;
  // BCP 47; empty: detected
  language?: string;
};

// A window that slides over the sound, in seconds.
export type BatchWindow = {
  length: number;
  step: number;
};

// A rectangle in a picture, in pixels from its top left corner.
export type BoundingBox = {
  h: number;
  w: number;
  x: number;
  y: number;
};

// One answer of the assistant.
export type BoxAnswer = {
  on: number;
  took_ms: number;
};

// Finds approved answers.
export type BoxAnswers = {
  // AddedMedianMS and AddedP95MS are the delays after the silence that ended the turn.
  added_median_ms: number;
  added_p95_ms: number;
  count: number;
  late_from_ms: number;
  // The share of answers, from 0 to 1, whose delay was more than LateFromMS.
  late_share: number;
  // MedianMS and P95MS are the times from the end of the user's voice to the first sound of the answer; 0 if there was
  // none.
  median_ms: number;
  p95_ms: number;
  // The answers, oldest first; in a stream, those since the previous event.
  recent: Array<BoxAnswer>;
};

// A backup.
export type BoxBackup = {
  // Before compression
  bytes: number;
  made_on: number;
};

// The TLS certificate of the box.
export type BoxCertificate = {
  ends_on: number;
  names: Array<string>;
  // The box renews it itself
  renewed: boolean;
  // Own, files or acme
  source: string;
};

// How many chats are live.
export type BoxChats = {
  // Accounts with a live chat
  accounts: number;
  live: number;
  // The most chats at once
  seats: number;
};

// How busy the machine's cores are.
export type BoxCores = {
  // Cores that engines use now
  busy: number;
  // Cores that the engines share
  engines: number;
  // Cores of the machine
  machine: number;
  // The CPU time of the process since its start.
  process_seconds: number;
  // How many calls of engines wait for cores, by urgency.
  waiting: Array<BoxWaiting>;
};

// A microphone or a loudspeaker that the box uses.
export type BoxDevice = {
  // While it is open
  name?: string;
  open: boolean;
  // Why it is not open
  trouble?: string;
};

// The disk of the data folder.
export type BoxDisk = {
  free: number;
  total: number;
};

// The result of one check, and what to do about it.
export type BoxFinding = {
  // Ok, warning or problem
  health: string;
  // Absent when all is well
  mend?: string;
  part: string;
  what: string;
};

// What a box knows of its fleet.
export type BoxFleet = {
  // The name of this box
  box: string;
  connected: boolean;
  facts_dropped: number;
  // How many facts the hub does not have yet, and how many it will never get.
  facts_waiting: number;
  // The name of the hub
  hub: string;
  // Why the box does not run the newest.
  problem?: string;
  // Why the box is not connected, and what to do; absent if it is.
  reason?: string;
  // The revision of what the hub wants that the box runs, and the newest that it has seen.
  running: number;
  // What the settings of the hub wait for, such as the end of a chat.
  waits?: string;
  wanted: number;
};

// The state of the line of the box's loudspeaker and microphone.
export type BoxKiosk = {
  // The id of the chat, once it has one
  chat_id?: string;
  input: BoxDevice;
  output: BoxDevice;
  // Waiting or talking
  state: string;
};

// The memory of the box and its machine.
export type BoxMemory = {
  available: number;
  // Used by the box
  resident: number;
  total: number;
};

// How many webhooks wait, and how many the box gave up on in the last seven days.
export type BoxOutbox = {
  dead: number;
  waiting: number;
};

// How a server is that runs engines for the box.
export type BoxServer = {
  // Calls since the start of the box that it has begun to answer
  answers: number;
  // In flight
  calls: number;
  // Calls since then that it has failed
  failures: number;
  // LatencyMS is how long it takes until its first output, lately; 0 before its first call.
  latency_ms: number;
  model: string;
  // Its URL without a path
  server: string;
  // Language model, transcriber or voice
  serves: string;
  // Up, busy (it said that it is overloaded) or down
  state: string;
  // It is not up
  why?: string;
};

// Which engines transcribe, think and speak.
export type BoxServes = {
  // The first is the default
  language_models: Array<string>;
  // That run engines for the box
  servers: Array<BoxServer>;
  transcriber: string;
  // The default
  voice: string;
};

// How many calls of engines with one urgency wait.
export type BoxWaiting = {
  calls: number;
  // Live, speculative, ahead … batch
  priority: string;
};

// A sound of a voice without words, such as a laugh.
export type BurstPrediction = {
  descriptions: Array<NamedScore>;
  emotions: Array<NamedScore>;
  time: TimeInterval;
};

// An excerpt of a message, 200 characters at most.
export type ChatExcerpt = {
  event_id: string;
  role: "USER" | "AGENT" | "SYSTEM" | "TOOL";
  text: string;
  timestamp: number;
};

// The body of an answer without data.
export type Confirmation = {
  message: string;
};

// An approved answer, and the way to ask for it that is like one of another answer.
export type ConflictingAnswer = {
  answer_id: string;
  ask: string;
};

// The settings of short generated responses.
export type EllmModel = {
  allow_short_responses?: boolean;
};

// What the assistant says on an event.
export type EventMessage = {
  enabled: boolean;
  text?: string;
};

// The events on which the assistant speaks.
export type EventMessages = {
  on_inactivity_timeout?: EventMessage;
  // For a mailbox that answers a call of the box
  on_mailbox?: EventMessage;
  on_max_duration_timeout?: EventMessage;
  on_new_chat?: EventMessage;
};

// A question and the answer that the assistant should give.
export type Example = {
  assistant: string;
  user: string;
};

// A face in a picture, or in a frame of a video.
export type FacePrediction = {
  box: BoundingBox;
  // Likewise
  descriptions?: Array<NamedScore>;
  emotions: Array<NamedScore>;
  // Empty if asked for: nothing measures them; else absent
  facs?: Array<NamedScore>;
  // Of the video, from 0
  frame: number;
  // That it is a face, 0 to 1
  prob: number;
  // Of the frame, in seconds
  time: number;
};

// A face without its place in the picture.
export type FacemeshPrediction = {
  emotions: Array<NamedScore>;
};

// Something that a box is to run, and the roll-out that brings it.
export type FleetBoxItem = {
  // A plugin's version, a setting's value
  content?: string;
  item: FleetItem;
  // The box is to run it no more, and still does
  remove?: boolean;
  rollout: number;
  // Waiting, running or failed
  state: string;
  target: string;
  // Of a config, prompt or tool
  version?: number;
  why?: string;
};

// Names what is rolled out: id or name of a config, prompt, tool or voice, the name of a plugin, the key of a setting.
export type FleetItem = {
  // The name of the account that has it; absent for plugins and settings.
  account?: string;
  id?: string;
  kind: "config" | "prompt" | "tool" | "voice" | "lexicon" | "plugin" | "setting";
  // The name; for a plugin or a setting the only one it has.
  name?: string;
};

// What a target is to run of an item.
export type FleetItemTarget = {
  // That are to run this
  boxes: number;
  content?: string;
  rollout: number;
  running: number;
  // Of the roll-out
  state: string;
  target: string;
  version?: number;
};

// What a box says of itself.
export type FleetState = {
  // AddedMS is the 95th percentile of how late the answers of the last hour came.
  added_ms: number;
  // Address is the URL at which others reach the box.
  address?: string;
  core_celsius?: number;
  cores: number;
  disk_celsius?: number;
  disk_free: number;
  disk_total: number;
  // Since the box joined
  facts_dropped: number;
  // That the hub does not have yet
  facts_waiting: number;
  // Chats
  live: number;
  // Of the last minute, in cores
  load: number;
  memory_free: number;
  memory_total: number;
  // Why no chat can start
  missing?: Array<string>;
  // By the clock of the box
  on: number;
  problems?: Array<string>;
  ready: boolean;
  // Running is the revision that the box runs, and Wanted the newest that it knows.
  running: number;
  seats: number;
  version: string;
  // Waits says what the rest of the running revision waits for.
  waits?: string;
  wanted: number;
  // Why says why Running is not Wanted.
  why?: string;
};

// A chat that matches a search.
export type FoundChat = {
  // The box of the hub that the chat was on; absent if it was on this box.
  box?: string;
  chat_group_id: string;
  config?: ReturnConfigSpec;
  custom_session_id?: string;
  // Absent while it is live
  end_timestamp?: number;
  event_count: number;
  // An excerpt of the newest message with the searched words or, if none were searched for, of the user's first
  // message.
  excerpt?: ChatExcerpt;
  id: string;
  // JSON as text
  metadata?: string;
  start_timestamp: number;
  status: "ACTIVE" | "USER_ENDED" | "USER_TIMEOUT" | "MAX_DURATION_TIMEOUT" | "INACTIVITY_TIMEOUT" | "ERROR";
};

// The predictions for one person.
export type GroupedBurstPrediction = {
  // "face_0", "speaker_0"; "unknown" where persons are not told apart
  id: string;
  // May be empty
  predictions: Array<BurstPrediction>;
};

// The predictions for one person.
export type GroupedFacePrediction = {
  // "face_0", "speaker_0"; "unknown" where persons are not told apart
  id: string;
  // May be empty
  predictions: Array<FacePrediction>;
};

// The predictions for one person.
export type GroupedFacemeshPrediction = {
  // "face_0", "speaker_0"; "unknown" where persons are not told apart
  id: string;
  // May be empty
  predictions: Array<FacemeshPrediction>;
};

// The predictions for one person.
export type GroupedLanguagePrediction = {
  // "face_0", "speaker_0"; "unknown" where persons are not told apart
  id: string;
  // May be empty
  predictions: Array<LanguagePrediction>;
};

// The predictions for one person.
export type GroupedNERPrediction = {
  // "face_0", "speaker_0"; "unknown" where persons are not told apart
  id: string;
  // May be empty
  predictions: Array<NERPrediction>;
};

// The predictions for one person.
export type GroupedProsodyPrediction = {
  // "face_0", "speaker_0"; "unknown" where persons are not told apart
  id: string;
  // May be empty
  predictions: Array<ProsodyPrediction>;
};

// The predictions for one file.
export type InferencePrediction = {
  file: string;
  models: ModelsPredictions;
};

// The predictions for the files of one source, more than one for an archive.
export type InferenceResults = {
  errors: Array<BatchError>;
  predictions: Array<InferencePrediction>;
};

// Sets how long a user must speak to interrupt the assistant.
export type Interruption = {
  min_interruption_ms?: number;
};

// The answer to a request for a job.
export type JobID = {
  job_id: string;
};

// A code that pairs one screen, once.
export type KioskCode = {
  code: string;
  config_id?: string;
  expires_on: number;
  name: string;
};

// Names a language model.
export type LanguageModel = {
  // The models that answer if this one fails, in order; an extension of Parley.
  fallback?: Array<LanguageModelRef>;
  model_provider?:
    | "GROQ"
    | "OPEN_AI"
    | "FIREWORKS"
    | "ANTHROPIC"
    | "CUSTOM_LANGUAGE_MODEL"
    | "GOOGLE"
    | "HUME_AI"
    | "AMAZON_BEDROCK"
    | "PERPLEXITY"
    | "SAMBANOVA"
    | "CEREBRAS"
    | "X_AI";
  model_resource?: string;
  temperature?: number;
};

// A language model that the box can serve, as a config names it.
export type LanguageModelEntry = {
  builtin_tools: Array<"web_search" | "hang_up" | "transfer" | "send_digits">;
  // It answers where a config names none
  default: boolean;
  // It runs on the box itself
  embedded: boolean;
  model_provider:
    | "GROQ"
    | "OPEN_AI"
    | "FIREWORKS"
    | "ANTHROPIC"
    | "CUSTOM_LANGUAGE_MODEL"
    | "GOOGLE"
    | "HUME_AI"
    | "AMAZON_BEDROCK"
    | "PERPLEXITY"
    | "SAMBANOVA"
    | "CEREBRAS"
    | "X_AI";
  // * is every one of the provider that has no entry before
  model_resource: string;
  // The model that answers
  served_by: string;
};

// Names a language model like a LanguageModel.
export type LanguageModelRef = {
  model_provider?:
    | "GROQ"
    | "OPEN_AI"
    | "FIREWORKS"
    | "ANTHROPIC"
    | "CUSTOM_LANGUAGE_MODEL"
    | "GOOGLE"
    | "HUME_AI"
    | "AMAZON_BEDROCK"
    | "PERPLEXITY"
    | "SAMBANOVA"
    | "CEREBRAS"
    | "X_AI";
  model_resource?: string;
};

// What a stretch of a text or transcript expresses.
export type LanguagePrediction = {
  confidence?: number;
  emotions: Array<NamedScore>;
  position: PositionInterval;
  // "1" to "9"; empty for a text not in English
  sentiment?: Array<NamedScore>;
  speaker_confidence?: number;
  text: string;
  // Absent for a text
  time?: TimeInterval;
  // Empty: nothing measures it
  toxicity?: Array<NamedScore>;
};

// A key that was created or got new secrets.
export type MadeKey = {
  account: string;
  api_key: string;
  expires_on?: number;
  key_id: string;
  role: string;
  secret_key: string;
  // Of the account, the same for all its keys
  webhook_signing_key: string;
};

// The body of a 422: every problem with the request body.
export type Malformed = {
  detail: Array<ValidationError>;
};

// A part of the chat, in ms since it began.
export type MillisecondInterval = {
  begin: number;
  end: number;
};

// The predictions of one model for one file.
export type ModelPredictionsBurstPrediction = {
  // May be empty
  grouped_predictions: Array<GroupedBurstPrediction>;
  // Metadata describes the transcript of a sound; absent for other media.
  metadata?: TranscriptionMetadata;
};

// The predictions of one model for one file.
export type ModelPredictionsFacePrediction = {
  // May be empty
  grouped_predictions: Array<GroupedFacePrediction>;
  // Metadata describes the transcript of a sound; absent for other media.
  metadata?: TranscriptionMetadata;
};

// The predictions of one model for one file.
export type ModelPredictionsFacemeshPrediction = {
  // May be empty
  grouped_predictions: Array<GroupedFacemeshPrediction>;
  // Metadata describes the transcript of a sound; absent for other media.
  metadata?: TranscriptionMetadata;
};

// The predictions of one model for one file.
export type ModelPredictionsLanguagePrediction = {
  // May be empty
  grouped_predictions: Array<GroupedLanguagePrediction>;
  // Metadata describes the transcript of a sound; absent for other media.
  metadata?: TranscriptionMetadata;
};

// The predictions of one model for one file.
export type ModelPredictionsNERPrediction = {
  // May be empty
  grouped_predictions: Array<GroupedNERPrediction>;
  // Metadata describes the transcript of a sound; absent for other media.
  metadata?: TranscriptionMetadata;
};

// The predictions of one model for one file.
export type ModelPredictionsProsodyPrediction = {
  // May be empty
  grouped_predictions: Array<GroupedProsodyPrediction>;
  // Metadata describes the transcript of a sound; absent for other media.
  metadata?: TranscriptionMetadata;
};

// The predictions of each model for one file.
export type ModelsPredictions = {
  burst?: ModelPredictionsBurstPrediction;
  face?: ModelPredictionsFacePrediction;
  facemesh?: ModelPredictionsFacemeshPrediction;
  language?: ModelPredictionsLanguagePrediction;
  ner?: ModelPredictionsNERPrediction;
  prosody?: ModelPredictionsProsodyPrediction;
};

// A name, a place, a time or an amount of money in a text or transcript.
export type NERPrediction = {
  confidence?: number;
  emotions: Array<NamedScore>;
  entity: string;
  // 0 to 1
  entity_confidence: number;
  // The word that the emotions belong to
  link_word: string;
  position: PositionInterval;
  speaker_confidence?: number;
  // How often it occurs in the file
  support: number;
  time?: TimeInterval;
  // Empty: the box has no encyclopedia
  uri: string;
};

// A NamedScore is the score, 0 to 1, of a feeling or another category.
export type NamedScore = {
  name: string;
  score: number;
};

// Short prompts that the assistant speaks after so many seconds of silence.
export type Nudges = {
  enabled: boolean;
  interval_secs?: number;
};

// A function with its arguments, a JSON object.
export type OpenAICalledByName = {
  arguments: string;
  name: string;
};

// A chat completion.
export type OpenAIChat = {
  // One
  choices: Array<OpenAIChatChoice>;
  // Unix time
  created: number;
  id: string;
  // As the request names it
  model: string;
  // Chat.completion
  object: string;
  usage: OpenAIChatUsage;
};

// The next message of a conversation.
export type OpenAIChatAnswer = {
  content: string | null;
  // Null
  refusal: string | null;
  // Assistant
  role: "system" | "developer" | "user" | "assistant" | "tool";
  tool_calls?: Array<OpenAIToolCall>;
};

// The message of a completion.
export type OpenAIChatChoice = {
  finish_reason: "stop" | "length" | "tool_calls";
  index: number;
  // Null
  logprobs: Record<string, unknown> | null;
  message: OpenAIChatAnswer;
};

// Counts tokens.
export type OpenAIChatUsage = {
  completion_tokens: number;
  prompt_tokens: number;
  prompt_tokens_details: OpenAIPromptTokenUsage;
  total_tokens: number;
};

// The body of every error below /v1.
export type OpenAIError = {
  error: OpenAIProblem;
};

// A model below /v1.
export type OpenAIModel = {
  // Unix time: when the box was released
  created: number;
  id: string;
  // Model
  object: string;
  owned_by: string;
};

// Lists the models below /v1.
export type OpenAIModels = {
  data: Array<OpenAIModel>;
  // List
  object: string;
};

// Says what is wrong with a request below /v1.
export type OpenAIProblem = {
  code: string | null;
  message: string;
  // The field of the request that is wrong; null if it is none.
  param: string | null;
  // The kind of the error: invalid_request_error, authentication_error, rate_limit_error or server_error.
  type: string;
};

// Says how many tokens of the prompt were computed before.
export type OpenAIPromptTokenUsage = {
  cached_tokens: number;
};

// A call of a function.
export type OpenAIToolCall = {
  function: OpenAICalledByName;
  id: string;
  // Function
  type: string;
};

// The progress of a pack's download.
export type PackPull = {
  // Bytes downloaded
  done: number;
  ended_on?: number;
  // Why it failed.
  error?: string;
  name: string;
  started_on: number;
  // Going, done, failed or cancelled
  state: string;
  // What the box is doing: downloading, unpacking, checking, or done.
  step: string;
  // Bytes to download
  total: number;
};

// A screen that was paired.
export type PairedKiosk = {
  // Opens chats with the screen's config, and nothing else
  api_key: string;
  // The id that revokes it
  key_id: string;
  // Of the screen
  name: string;
};

// The state of the box's telephone.
export type Phone = {
  // The live calls, the oldest first.
  calls: Array<PhoneCall>;
  // The newest calls that have ended, the newest first.
  ended_calls: Array<PhoneCall>;
  // The numbers that the box answers.
  extensions: Array<PhoneExtension>;
  // The addresses for SIP; none: calls come as media streams only.
  listeners: Array<PhoneListener>;
  trunks: Array<PhoneTrunk>;
};

// A call by telephone.
export type PhoneCall = {
  // The name of the account of its chat
  account: string;
  // Who answered a call out, or why nobody did.
  answered_by?: "person" | "mailbox" | "busy" | "no_answer" | "rejected" | "wrong_number" | "failed";
  // Unix milliseconds; absent: not answered
  answered_on?: number;
  call_id: string;
  // Once it has a chat
  chat_id?: string;
  // PCMU, PCMA, G722 or opus, once it is negotiated
  codec?: string;
  // Of its chat; absent: the settings of the box
  config_id?: string;
  direction: "inbound" | "outbound";
  // From the answer to the end of the call, or until now.
  duration_secs: number;
  // Whether the sound is encrypted on its way
  encrypted: boolean;
  // A sentence; absent: it is live
  end_reason?: string;
  // Unix milliseconds; absent: it is live
  ended_on?: number;
  // Absent: withheld
  from?: string;
  // Of the same packets
  jitter_ms: number;
  // Whether the far end has put the box on hold.
  on_hold: boolean;
  packets_lost: number;
  // Packets of the sound that the box receives.
  packets_received: number;
  // Absent if the far end reports none.
  round_trip_ms?: number;
  // Unix milliseconds
  started_on: number;
  state: "ringing" | "answered" | "talking" | "transferring" | "joined" | "ended";
  to: string;
  // Absent: it is a media stream
  trunk?: string;
};

// A number that the box answers.
export type PhoneExtension = {
  // The name of the account; absent: the box's first
  account?: string;
  // Id or name; absent: the settings of the box
  config?: string;
  // * stands for all others
  number: string;
};

// An address on which the box waits for SIP.
export type PhoneListener = {
  // Such as udp://0.0.0.0:5060
  address: string;
  // Why it is not open
  error?: string;
  // False: the box could not open it
  open: boolean;
};

// A peer that may call the box, and over which the box calls out.
export type PhoneTrunk = {
  // As the settings name it; absent if callers show a password
  address?: string;
  // When the registration ends unless it is refreshed, Unix milliseconds.
  expires_on?: number;
  // The newest failure of a registration or of a call out.
  last_error?: string;
  // When that was, Unix milliseconds.
  last_error_on?: number;
  name: string;
  // Whether the box registers there
  register: boolean;
  // The host that has accepted the registration.
  registered_at?: string;
  // Ready where the box does not register, and otherwise registering, registered or failed.
  state: "ready" | "registering" | "registered" | "failed";
};

// The result of a call.
export type PluginCalled = {
  content?: string;
  // Why it failed; absent if it did not.
  error?: string;
  memory_bytes: number;
  milliseconds: number;
};

// The calls of a tool or a hook since the box started, and their durations.
export type PluginFigures = {
  // MedianMS and P95MS are the durations of calls, rounded up to the next of some steps; 0 if there were none.
  median_ms: number;
  p95_ms: number;
  // How many calls succeeded, and how many failed, by reason.
  results: Array<PluginResult>;
  tool: string;
};

// A line of a plugin's log.
export type PluginLogLine = {
  chat_id?: string;
  // Trace, debug, info, warn or error
  level: string;
  // Unix milliseconds
  on_ms: number;
  text: string;
  tool?: string;
};

// What a plugin asks for, before it is installed.
export type PluginOffer = {
  // The permissions that it asks for; for an upgrade, the new ones.
  asks: Array<PluginPermission>;
  description: string;
  digest: string;
  // The version that it would replace; absent if none is installed.
  installed_version?: string;
  license?: string;
  name: string;
  // A warning, in words, if another key signed it than the installed version.
  other_signer?: string;
  // Who signed it, in words.
  signed: string;
  // The required settings without a value.
  unset_settings: Array<string>;
  version: string;
};

// A permission of a plugin.
export type PluginPermission = {
  // The name that grants and revokes it
  name: string;
  // What it means, for people
  words: string;
};

// How many calls ended in one way.
export type PluginResult = {
  calls: number;
  result: string;
};

// A setting of a plugin.
export type PluginSetting = {
  description?: string;
  is_set: boolean;
  name: string;
  required?: boolean;
  // String, secret, integer, number or boolean
  type: string;
  // The value, or the default; absent for a secret.
  value?: string;
};

// A tool of a plugin.
export type PluginTool = {
  description: string;
  fallback_content?: string;
  // The id that configs use
  id: string;
  name: string;
  // A JSON Schema
  parameters: unknown;
  timeout_ms: number;
};

// A stretch of a text, in characters (Unicode code points) from its beginning; End is exclusive.
export type PositionInterval = {
  begin: number;
  end: number;
};

// An approved answer.
export type PostedAnswerItem = {
  // Ways to ask for it
  ask: Array<string>;
  // A to z, 0 to 9 and hyphens
  id: string;
  // May contain variables: {{name}}
  say: string;
};

// The approved answers of a config: what the assistant says word for word when a user asks for it.
export type PostedAnswers = {
  items: Array<PostedAnswerItem>;
  mode?: "first" | "only";
  // What the assistant says if no answer fits and the language model may not answer.
  unknown?: string;
};

// Asks which approved answers seem to be asked for alike.
export type PostedAnswersCheck = {
  answers: PostedAnswers;
};

// Text that the assistant speaks as it is.
export type PostedAssistantInput = {
  custom_session_id?: string;
  text: string;
  type: "assistant_input";
};

// The format of the headerless audio that the client sends.
export type PostedAudioConfiguration = {
  channels: number;
  codec?: string;
  encoding: "linear16";
  // Hz
  sample_rate: number;
};

// The options of the face model.
export type PostedBatchFace = {
  descriptions?: PostedUnconfigurable;
  facs?: PostedUnconfigurable;
  // Frames of a video that are analysed, per second
  fps_pred?: number;
  // Groups the faces of a file by person
  identify_faces?: boolean;
  // Side of the box, in pixels
  min_face_size?: number;
  // Faces with a lower probability are left out, 0 to 1
  prob_threshold?: number;
  // Puts pictures of the faces into the artifacts
  save_faces?: boolean;
};

// Requests the analysis of files, URLs and texts.
export type PostedBatchJob = {
  callback_url?: string;
  // The models; default: all, with their default options.
  models?: PostedBatchModels;
  // Has no effect: a box sends no mail.
  notify?: boolean;
  text?: Array<string>;
  // How speech is transcribed; null turns transcription off.
  transcription?: PostedBatchTranscription;
  urls?: Array<string>;
};

// The options of the language model.
export type PostedBatchLanguage = {
  granularity?: "word" | "sentence" | "utterance" | "conversational_turn";
  identify_speakers?: boolean;
  sentiment?: PostedUnconfigurable;
  toxicity?: PostedUnconfigurable;
};

// The models that a job runs.
export type PostedBatchModels = {
  burst?: PostedUnconfigurable;
  face?: PostedBatchFace;
  facemesh?: PostedUnconfigurable;
  language?: PostedBatchLanguage;
  ner?: PostedBatchNER;
  prosody?: PostedBatchProsody;
};

// The options of the model that finds names.
export type PostedBatchNER = {
  identify_speakers?: boolean;
};

// The options of the prosody model.
export type PostedBatchProsody = {
  granularity?: "word" | "sentence" | "utterance" | "conversational_turn";
  identify_speakers?: boolean;
  // Takes the place of Granularity
  window?: PostedBatchWindow;
};

// Says how speech is transcribed.
export type PostedBatchTranscription = {
  // Utterances below it are left out, 0 to 1
  confidence_threshold?: number;
  identify_speakers?: boolean;
  // BCP 47; empty: detected
  language?:
    | "zh"
    | "da"
    | "nl"
    | "en"
    | "en-AU"
    | "en-IN"
    | "en-NZ"
    | "en-GB"
    | "fr"
    | "fr-CA"
    | "de"
    | "hi"
    | "hi-Latn"
    | "id"
    | "it"
    | "ja"
    | "ko"
    | "no"
    | "pl"
    | "pt"
    | "pt-BR"
    | "pt-PT"
    | "ru"
    | "es"
    | "es-419"
    | "sv"
    | "ta"
    | "tr"
    | "uk";
};

// A window that slides over the sound, in seconds.
export type PostedBatchWindow = {
  length?: number;
  step?: number;
};

// Enables a tool of the box.
export type PostedBuiltinToolConfig = {
  // Destinations are those of Transfer; the other tools have none.
  destinations?: Array<PostedTransferDestination>;
  fallback_content?: string;
  name: "web_search" | "hang_up" | "transfer" | "send_digits";
};

// The body of a new config.
export type PostedConfig = {
  answers?: PostedAnswers;
  builtin_tools?: Array<PostedBuiltinToolConfig>;
  ellm_model?: PostedEllmModel;
  event_messages?: PostedEventMessages;
  evi_version: "3" | "4-mini" | "2" | "1";
  examples?: Array<PostedExample>;
  interruption?: PostedInterruption;
  language_model?: PostedLanguageModel;
  name: string;
  nudges?: PostedNudges;
  prompt?: PostedConfigPrompt;
  // ZERO turns it off for a custom language model
  prompt_expansion?: "ZERO";
  timeouts?: PostedTimeouts;
  tools?: Array<PostedToolRef>;
  turn_detection?: PostedTurnDetection;
  version_description?: string;
  voice?: PostedVoiceRef;
  webhooks?: Array<PostedWebhook>;
};

// Refers to a prompt, by default to its newest version, or contains the text of a new one.
export type PostedConfigPrompt = {
  id?: string;
  prompt_expansion?: PostedPromptExpansion;
  text?: string;
  version?: number;
};

// The body of a config's next version.
export type PostedConfigVersion = {
  answers?: PostedAnswers;
  builtin_tools?: Array<PostedBuiltinToolConfig>;
  ellm_model?: PostedEllmModel;
  event_messages?: PostedEventMessages;
  evi_version: "3" | "4-mini" | "2" | "1";
  examples?: Array<PostedExample>;
  interruption?: PostedInterruption;
  language_model?: PostedLanguageModel;
  nudges?: PostedNudges;
  prompt?: PostedConfigPrompt;
  // ZERO turns it off for a custom language model
  prompt_expansion?: "ZERO";
  timeouts?: PostedTimeouts;
  tools?: Array<PostedToolRef>;
  turn_detection?: PostedTurnDetection;
  version_description?: string;
  voice?: PostedVoiceRef;
  webhooks?: Array<PostedWebhook>;
};

// Text that the language model receives with the user's messages; it is not part of the transcript.
export type PostedContext = {
  text: string;
  type?: "persistent" | "temporary" | "editable";
};

// The settings of short generated responses.
export type PostedEllmModel = {
  allow_short_responses?: boolean;
};

// A word and its pronunciation.
export type PostedEntry = {
  said: string;
  // The word, or several words.
  word: string;
};

// What the assistant says on an event.
export type PostedEventMessage = {
  enabled: boolean;
  text?: string;
};

// The events on which the assistant speaks.
export type PostedEventMessages = {
  on_inactivity_timeout?: PostedEventMessage;
  // For a mailbox that answers a call of the box
  on_mailbox?: PostedEventMessage;
  on_max_duration_timeout?: PostedEventMessage;
  on_new_chat?: PostedEventMessage;
};

// A question and the answer that the assistant should give.
export type PostedExample = {
  assistant: string;
  user: string;
};

// Adds a box to a hub.
export type PostedFleetBox = {
  groups?: Array<string>;
  // 1 to 40 small letters, digits and hyphens
  name: string;
};

// Replaces the groups of a box.
export type PostedFleetGroups = {
  groups: Array<string>;
};

// Names what is rolled out: id or name of a config, prompt, tool or voice, the name of a plugin, the key of a setting.
export type PostedFleetItem = {
  // The name of the account that has it; absent for plugins and settings.
  account?: string;
  id?: string;
  kind: "config" | "prompt" | "tool" | "voice" | "lexicon" | "plugin" | "setting";
  // The name; for a plugin or a setting the only one it has.
  name?: string;
};

// The format of sound.
export type PostedFormat = {
  type: "mp3" | "pcm" | "wav";
};

// Sets how long a user must speak to interrupt the assistant.
export type PostedInterruption = {
  min_interruption_ms?: number;
};

// Creates a key.
export type PostedKey = {
  // Created if it does not exist
  account: string;
  // After how many seconds it expires and is deleted; absent if never.
  expires_in?: number;
  // What the key is for
  label?: string;
  // Client (the default) or operator
  role?: "client" | "operator";
};

// Creates a code that pairs a screen.
export type PostedKiosk = {
  // The account of its chats
  account: string;
  // The config of its chats; absent: the settings of the box.
  config_id?: string;
  // The name that the screen shows
  name: string;
};

// Names a language model.
export type PostedLanguageModel = {
  // The models that answer if this one fails, in order; an extension of Parley.
  fallback?: Array<PostedLanguageModelRef>;
  model_provider?:
    | "GROQ"
    | "OPEN_AI"
    | "FIREWORKS"
    | "ANTHROPIC"
    | "CUSTOM_LANGUAGE_MODEL"
    | "GOOGLE"
    | "HUME_AI"
    | "AMAZON_BEDROCK"
    | "PERPLEXITY"
    | "SAMBANOVA"
    | "CEREBRAS"
    | "X_AI";
  model_resource?: string;
  temperature?: number;
};

// Names a language model like a LanguageModel.
export type PostedLanguageModelRef = {
  model_provider:
    | "GROQ"
    | "OPEN_AI"
    | "FIREWORKS"
    | "ANTHROPIC"
    | "CUSTOM_LANGUAGE_MODEL"
    | "GOOGLE"
    | "HUME_AI"
    | "AMAZON_BEDROCK"
    | "PERPLEXITY"
    | "SAMBANOVA"
    | "CEREBRAS"
    | "X_AI";
  model_resource?: string;
};

// An account's pronunciations.
export type PostedLexicon = {
  entries: Array<PostedEntry>;
};

// The body that renames a config, prompt or tool.
export type PostedName = {
  name: string;
};

// Short prompts that the assistant speaks after so many seconds of silence.
export type PostedNudges = {
  enabled?: boolean;
  interval_secs?: number;
};

// A function with its arguments, a JSON object.
export type PostedOpenAICalledByName = {
  arguments: string;
  name: string;
};

// Requests the next message of a conversation.
export type PostedOpenAIChat = {
  // The longest message, in tokens; default: 1024.
  max_completion_tokens?: number;
  // The older name of max_completion_tokens.
  max_tokens?: number;
  messages: Array<PostedOpenAIMessage>;
  // One of GET /v1/models that answers, such as parley.
  model: string;
  // Names the conversation, so that its next message begins sooner.
  prompt_cache_key?: string;
  // The form of the message: text (the default), json_object, or json_schema.
  response_format?: PostedOpenAIResponseFormat;
  // The message ends before any of these texts.
  stop?: Array<string>;
  // Sends the message while it is written, as server-sent events.
  stream?: boolean;
  stream_options?: PostedOpenAIStreamOptions;
  // How much the message varies, 0 to 2; default: 1.
  temperature?: number;
  // Whether the model calls a function: none, auto (the default), required, or an object that names one.
  tool_choice?: "none" | "auto" | "required" | Record<string, unknown>;
  // The functions that the model may call, at most one in a message.
  tools?: Array<PostedOpenAITool>;
};

// Describes a function.
export type PostedOpenAIFunction = {
  description?: string;
  name: string;
  // The JSON Schema of the arguments.
  parameters?: unknown;
};

// A message of a conversation.
export type PostedOpenAIMessage = {
  // The text, or a list of parts of type text.
  content?: string;
  role: "system" | "developer" | "user" | "assistant" | "tool";
  // The call that a message of the role tool answers.
  tool_call_id?: string;
  // The functions that the assistant called.
  tool_calls?: Array<PostedOpenAIToolCall>;
};

// The form of a message.
export type PostedOpenAIResponseFormat = {
  // For json_schema.
  json_schema?: PostedOpenAISchema;
  type: "text" | "json_object" | "json_schema";
};

// A JSON Schema with its name.
export type PostedOpenAISchema = {
  description?: string;
  name: string;
  schema: unknown;
};

// Requests speech.
export type PostedOpenAISpeech = {
  // The text to speak.
  input: string;
  // How to speak.
  instructions?: string;
  // One of GET /v1/models that speaks, such as tts-1.
  model: string;
  // Default: mp3.
  response_format?: "mp3" | "opus" | "aac" | "flac" | "wav" | "pcm";
  // Default: 1.
  speed?: number;
  // Default: audio.
  stream_format?: "audio" | "sse";
  // A voice of the box or of the account, by name or id, or one of OpenAI's names; also an object with its id.
  voice: string;
};

// The options of a stream.
export type PostedOpenAIStreamOptions = {
  // Sends the tokens before the end of the stream.
  include_usage?: boolean;
};

// A function that a model may call.
export type PostedOpenAITool = {
  function: PostedOpenAIFunction;
  // Function
  type: "function";
};

// A call of a function.
export type PostedOpenAIToolCall = {
  function: PostedOpenAICalledByName;
  id: string;
  // Function
  type?: "function";
};

// The body that pairs a screen.
export type PostedPairing = {
  // As the box shows it; case and separators are ignored
  code: string;
};

// Sets the password of the console.
export type PostedPassword = {
  // The present password; a session must show it, if there is one
  current?: string;
  password: string;
};

// Keeps the assistant silent until a resume_assistant_message.
export type PostedPauseAssistantMessage = {
  custom_session_id?: string;
  type: "pause_assistant_message";
};

// Calls a number.
export type PostedPhoneCall = {
  // The name of the account of the chat; absent: that of the key.
  account?: string;
  // The id or the name of the config of the chat.
  config_id: string;
  // They apply from the start of the chat.
  session_settings?: PostedPhoneSettings;
  // The number, or a SIP address.
  to: string;
  // The name of the trunk; absent: the box's only one.
  trunk?: string;
};

// The session settings of a call, without the type of a message.
export type PostedPhoneSettings = {
  audio?: PostedAudioConfiguration;
  builtin_tools?: Array<PostedBuiltinToolConfig>;
  context?: PostedContext;
  custom_session_id?: string;
  language_model_api_key?: string;
  metadata?: Record<string, unknown>;
  system_prompt?: string;
  tools?: Array<PostedTool>;
  variables?: Record<string, unknown>;
  voice_id?: string;
};

// Hands a live call over to a person.
export type PostedPhoneTransfer = {
  // Whether the box calls the person, says who calls, and joins the two when the person agrees.
  attended?: boolean;
  // What the box says to the person; absent: it says who calls.
  brief?: string;
  // How long the person's phone rings; absent: 30.
  ring_secs?: number;
  // The number of the person, or a SIP address.
  to: string;
};

// The value of a setting.
export type PostedPluginAnswer = {
  name: string;
  value: string;
};

// Calls a tool of a plugin.
export type PostedPluginCall = {
  // A JSON object as text
  parameters?: string;
  // May be absent if the plugin has one tool
  tool?: string;
};

// Changes a plugin's permissions and settings.
export type PostedPluginChange = {
  grant?: Array<string>;
  revoke?: Array<string>;
  settings?: Array<PostedPluginAnswer>;
  // Names of settings to delete
  unset?: Array<string>;
};

// The body of a new prompt.
export type PostedPrompt = {
  name: string;
  prompt_expansion?: PostedPromptExpansion;
  text: string;
  version_description?: string;
};

// Whether the box may add instructions for spoken conversations to a prompt.
export type PostedPromptExpansion = {
  enabled?: boolean;
};

// The body of a prompt's next version.
export type PostedPromptVersion = {
  prompt_expansion?: PostedPromptExpansion;
  text: string;
  version_description?: string;
};

// How a word is pronounced.
export type PostedPronunciation = {
  // The pronunciation: phonemes of the International Phonetic Alphabet between slashes (/wɪn/), or a respelling, as
  // syllables with hyphens, the stressed ones in capitals (hwah-KEEN), or as words that sound like it.
  said: string;
};

// Lets the assistant answer again.
export type PostedResumeAssistantMessage = {
  custom_session_id?: string;
  type: "resume_assistant_message";
};

// Begins a roll-out.
export type PostedRollout = {
  // Canary is how many boxes, chosen by the hub from those that are online, run it first; CanaryBoxes names them
  // instead.
  canary?: number;
  canary_boxes?: Array<string>;
  item: PostedFleetItem;
  // Remove takes the item off the target.
  remove?: boolean;
  // SoakMinutes is how long the canaries must run it without a new problem; absent: 10.
  soak_minutes?: number;
  // Target is all, group:NAME or box:NAME.
  target: string;
  // The value of a setting.
  value?: string;
  // The version of a config, prompt or tool; absent: the newest.
  version?: number;
};

// Makes the console act for another account.
export type PostedSessionAccount = {
  // The name of an existing account
  account: string;
};

// Change a live chat; they are merged field by field into the settings in force.
export type PostedSessionSettings = {
  audio?: PostedAudioConfiguration;
  builtin_tools?: Array<PostedBuiltinToolConfig>;
  context?: PostedContext;
  custom_session_id?: string;
  language_model_api_key?: string;
  metadata?: Record<string, unknown>;
  system_prompt?: string;
  tools?: Array<PostedTool>;
  type: "session_settings";
  variables?: Record<string, unknown>;
  voice_id?: string;
};

// Sets a box up.
export type PostedSetUp = {
  // Talk over the box's own loudspeaker and microphone
  kiosk?: boolean;
  // HOST:PORT
  listen: string;
  // Of the console; needed for a client without a session
  password?: string;
  // Of the models
  profile: string;
  // Auto, own, acme, off, or CERT,KEY
  tls: string;
  // Names of the certificate, with commas
  tls_names?: string;
};

// Signs a browser in to the console.
export type PostedSignIn = {
  // The part of the link after #signin=
  link?: string;
  // Instead of a link
  password?: string;
};

// Requests speech.
export type PostedTTS = {
  // Earlier speech.
  context?: PostedTTSContext;
  // The format of the sound; default: mp3.
  format?: PostedFormat;
  // Requests the times of words, of phonemes, or of both.
  include_timestamp_types?: Array<"word" | "phoneme">;
  // Sends sound as it is made.
  instant_mode?: boolean;
  // How many candidates are made; default: 1.
  num_generations?: number;
  // Splits utterances into snippets at natural places (the default); false makes one snippet of each utterance.
  split_utterances?: boolean;
  // Makes the chunks of a generation one file when joined; otherwise each chunk is a file.
  strip_headers?: boolean;
  // How much the speech varies, 0 to 1.
  temperature?: number;
  // The texts to speak, in order.
  utterances: Array<PostedUtterance>;
  // Version 2 requires a voice.
  version?: "1" | "2";
};

// Has one of the two fields.
export type PostedTTSContext = {
  // A generation of the account.
  generation_id?: string;
  // Utterances that count as said.
  utterances?: Array<PostedUtterance>;
};

// Ends a chat after so many seconds, 30 to 1800.
export type PostedTimeout = {
  duration_secs?: number;
  enabled: boolean;
};

// End a chat in which nobody speaks, and a chat that has lasted long.
export type PostedTimeouts = {
  inactivity?: PostedTimeout;
  max_duration?: PostedTimeout;
};

// A tool that the developer runs.
export type PostedTool = {
  description?: string;
  fallback_content?: string;
  name: string;
  // JSON schema as text
  parameters: string;
  type: "function";
};

// Reports that a tool failed.
export type PostedToolErrorMessage = {
  code?: string;
  content?: string;
  custom_session_id?: string;
  error: string;
  level?: "warn";
  tool_call_id: string;
  tool_type?: "builtin" | "function";
  type: "tool_error";
};

// Refers to a tool, by default to its newest version.
export type PostedToolRef = {
  id: string;
  version?: number;
};

// The result of a tool.
export type PostedToolResponseMessage = {
  content: string;
  custom_session_id?: string;
  tool_call_id: string;
  tool_name?: string;
  tool_type?: "builtin" | "function";
  type: "tool_response";
};

// Where the tool transfer may hand a call over to.
export type PostedTransferDestination = {
  // Attended has the box call the person first, say who calls, and connect the caller only if the person agrees.
  attended?: boolean;
  // By which the language model chooses it
  name: string;
  // RingSecs is how long an attended transfer rings until nobody counts as there.
  ring_secs?: number;
  // The number to call
  to: string;
};

// Asks which approved answer fits a question.
export type PostedTry = {
  answers?: PostedAnswers;
  // What the user asked before
  before?: string;
  config_id?: string;
  // Absent: the newest
  config_version?: number;
  text: string;
};

// Sets when a user's turn has ended.
export type PostedTurnDetection = {
  end_of_turn_silence_ms?: number;
  mode?: "silence" | "semantic";
  prefix_padding_ms?: number;
  speech_detection_threshold?: number;
};

// A model, or a part of one, that has no options.
export type PostedUnconfigurable = Record<string, unknown>;

// The body of a new tool.
export type PostedUserDefinedTool = {
  description?: string;
  fallback_content?: string;
  name: string;
  // A JSON schema as text
  parameters: string;
  version_description?: string;
};

// The body that renames a config, prompt or tool.
export type PostedUserDefinedToolName = {
  name: string;
};

// The body of a tool's next version.
export type PostedUserDefinedToolVersion = {
  description?: string;
  fallback_content?: string;
  // A JSON schema as text
  parameters: string;
  version_description?: string;
};

// Text that counts as said by the user.
export type PostedUserInput = {
  custom_session_id?: string;
  text: string;
  type: "user_input";
};

// A text and how to speak it.
export type PostedUtterance = {
  // How a voice is to speak or, if none is named, which voice to design.
  description?: string;
  // The speed; 1 is the voice's natural one.
  speed?: number;
  text: string;
  // The silence after the utterance, in seconds.
  trailing_silence?: number;
  // The voice, also of the utterances that follow.
  voice?: PostedVoiceRef;
};

// Changes the description of a version; without one, it removes the old one.
export type PostedVersionDescription = {
  version_description?: string;
};

// Saves the voice of a generation.
export type PostedVoice = {
  generation_id: string;
  name: string;
};

// Names the voice that stands in for a name.
export type PostedVoiceAlias = {
  // The name or id of a voice of the library or of one that an account has saved; the latter stands in for the accounts
  // that have a voice of its name.
  voice: string;
};

// Refers to a voice by its id or its name.
export type PostedVoiceRef = {
  id?: string;
  name?: string;
  provider?: "HUME_AI" | "CUSTOM_VOICE";
};

// A URL that receives events.
export type PostedWebhook = {
  events: Array<"chat_started" | "chat_ended" | "tool_call">;
  url: string;
};

// Selects webhooks.
export type PostedWebhookChoice = {
  // With all, the name of the account whose webhooks are selected; absent: all accounts.
  account?: string;
  // All of them, instead of ids
  all?: boolean;
  ids?: Array<string>;
};

// Sends an example to a receiver.
export type PostedWebhookTest = {
  // The account whose signing key is used
  account: string;
  url: string;
};

// The body of every error but 422.
export type Problem = {
  code: string;
  error: string;
  message: string;
};

// Whether the box may add instructions for spoken conversations to a prompt.
export type PromptExpansion = {
  enabled?: boolean;
};

// How a voice sounds in a stretch of sound.
export type ProsodyPrediction = {
  confidence?: number;
  emotions: Array<NamedScore>;
  speaker_confidence?: number;
  // Absent for windows, and without transcription
  text?: string;
  time: TimeInterval;
};

// How often an approved answer was given.
export type ReportedAnswer = {
  answer_id: string;
  count: number;
  // In Unix milliseconds
  last_on?: number;
};

// Questions that ask alike.
export type ReportedQuestion = {
  // Where it was asked last
  chat_id: string;
  count: number;
  // In Unix milliseconds
  first_on: number;
  last_on: number;
  // As it was asked most often
  text: string;
  // Other wordings
  texts: Array<string>;
};

// A row of the audit log: an administrative act, or several equal ones.
export type ReturnAct = {
  created_on: number;
  // The network address or the terminal of the caller; absent if there is none.
  from?: string;
  // The order in the log, from 1
  id: number;
  object: ReturnThing;
  // Done, refused or failed
  outcome: string;
  // Why it was refused or failed.
  reason?: string;
  // A sentence without a subject.
  text: string;
  // How many equal acts it stands for
  times: number;
  // A stable name, such as key.create.
  what: string;
  who: ReturnActor;
};

// Who acted.
export type ReturnActor = {
  id?: string;
  // Key, session, screen, user, box or unknown
  kind: string;
  // The label of a key or screen; the name of a user.
  name?: string;
  // The role of a key; the name under which a user's command ran.
  role?: string;
};

// Lists pairs of approved answers that seem to be asked for alike, the most alike first.
export type ReturnAnswersCheck = {
  // Whether all ways to ask were compared by their meaning.
  complete: boolean;
  conflicts: Array<AnswersConflict>;
};

// What users asked in the chats of a config.
export type ReturnAnswersReport = {
  config_id: string;
  // The answers of the newest version in its order, also those that were never given, and then others that were given.
  given: Array<ReportedAnswer>;
  // Those of the last ones, by likeness, newest first
  unanswered: Array<ReportedQuestion>;
  // Questions that no answer fitted
  unanswered_count: number;
};

// What a sheet (CSV) of approved answers has.
export type ReturnAnswersSheet = {
  items: Array<AnswerItem>;
  // What was assumed or ignored, for who wrote the sheet
  warnings: Array<string>;
};

// The state of the box now.
export type ReturnBoxHealth = {
  answers: BoxAnswers;
  // The newest backup made on this machine; absent if there is none.
  backup?: BoxBackup;
  // Absent if the box serves without TLS.
  certificate?: BoxCertificate;
  chats: BoxChats;
  cores: BoxCores;
  disk: BoxDisk;
  // The fleet of the box; absent if it is in none.
  fleet?: BoxFleet;
  // How many screens are paired.
  kiosks: number;
  memory: BoxMemory;
  // The reasons why the box is not ready, in words
  missing: Array<string>;
  now: number;
  // Whether a chat could start.
  ready: boolean;
  // The engines in use, as the settings name them.
  serves: BoxServes;
  // The line of the box's loudspeaker and microphone; absent if there is none, and until the models are loaded.
  speaker?: BoxKiosk;
  started_on: number;
  version: string;
  webhooks: BoxOutbox;
};

// A tool of the box in the record of a config.
export type ReturnBuiltinTool = {
  // Of the tool transfer
  destinations?: Array<TransferDestination>;
  fallback_content?: string;
  name: "web_search" | "hang_up" | "transfer" | "send_digits";
  tool_type: "BUILTIN" | "FUNCTION";
};

// The record of one conversation.
export type ReturnChat = {
  chat_group_id: string;
  config?: ReturnConfigSpec;
  // Absent while it is live
  end_timestamp?: number;
  event_count: number;
  id: string;
  // JSON as text
  metadata?: string;
  start_timestamp: number;
  status: "ACTIVE" | "USER_ENDED" | "USER_TIMEOUT" | "MAX_DURATION_TIMEOUT" | "INACTIVITY_TIMEOUT" | "ERROR";
};

// The recording of a chat.
export type ReturnChatAudioReconstruction = {
  filename?: string;
  // Of the chat
  id: string;
  modified_at?: number;
  signed_audio_url?: string;
  signed_url_expiration_timestamp_millis?: number;
  status: "QUEUED" | "IN_PROGRESS" | "COMPLETE" | "ERROR" | "CANCELLED";
  user_id: string;
};

// An event of a chat.
export type ReturnChatEvent = {
  chat_id: string;
  // JSON as text: the 48 scores
  emotion_features?: string;
  id: string;
  message_text?: string;
  // JSON as text
  metadata?: string;
  related_event_id?: string;
  role: "USER" | "AGENT" | "SYSTEM" | "TOOL";
  timestamp: number;
  type:
    | "AGENT_MESSAGE"
    | "ASSISTANT_PROSODY"
    | "CHAT_START_MESSAGE"
    | "CHAT_END_MESSAGE"
    | "FUNCTION_CALL"
    | "FUNCTION_CALL_RESPONSE"
    | "PAUSE_ONSET"
    | "RESUME_ONSET"
    | "SESSION_SETTINGS"
    | "SYSTEM_PROMPT"
    | "USER_INTERRUPTION"
    | "USER_MESSAGE"
    | "USER_RECORDING_START_MESSAGE";
};

// A chat and the chats that resumed it.
export type ReturnChatGroup = {
  active: boolean;
  first_start_timestamp: number;
  id: string;
  most_recent_chat_id: string;
  most_recent_config?: ReturnConfigSpec;
  most_recent_start_timestamp: number;
  num_chats: number;
};

// A page of the recordings of a group, one for each chat.
export type ReturnChatGroupPagedAudioReconstructions = {
  audio_reconstructions_page: Array<ReturnChatAudioReconstruction>;
  id: string;
  num_chats: number;
  // From 0
  page_number: number;
  page_size: number;
  pagination_direction: "ASC" | "DESC";
  total_pages: number;
  user_id: string;
};

// A chat group with a page of its chats.
export type ReturnChatGroupPagedChats = {
  active: boolean;
  chats_page: Array<ReturnChat>;
  first_start_timestamp: number;
  id: string;
  most_recent_start_timestamp: number;
  num_chats: number;
  // From 0
  page_number: number;
  page_size: number;
  pagination_direction: "ASC" | "DESC";
  total_pages: number;
};

// A page of the events of all chats of a group.
export type ReturnChatGroupPagedEvents = {
  events_page: Array<ReturnChatEvent>;
  id: string;
  // From 0
  page_number: number;
  page_size: number;
  pagination_direction: "ASC" | "DESC";
  total_pages: number;
};

// A chat with a page of its events.
export type ReturnChatPagedEvents = {
  chat_group_id: string;
  config?: ReturnConfigSpec;
  end_timestamp?: number;
  events_page: Array<ReturnChatEvent>;
  id: string;
  metadata?: string;
  // From 0
  page_number: number;
  page_size: number;
  pagination_direction: "ASC" | "DESC";
  start_timestamp: number;
  status: "ACTIVE" | "USER_ENDED" | "USER_TIMEOUT" | "MAX_DURATION_TIMEOUT" | "INACTIVITY_TIMEOUT" | "ERROR";
  total_pages: number;
};

// The record of one version of a config: all that was posted, the defaults of what was not, and the prompt and tools
// that it uses as they are now.
export type ReturnConfig = {
  answers?: Answers;
  // A page that would be too large leaves the answers of some configs out; their own records have them.
  answers_omitted?: boolean;
  builtin_tools: Array<ReturnBuiltinTool>;
  created_on: number;
  ellm_model: EllmModel;
  event_messages: EventMessages;
  evi_version: "1" | "2" | "3" | "4-mini";
  examples?: Array<Example>;
  id: string;
  interruption: Interruption;
  language_model?: LanguageModel;
  modified_on: number;
  name: string;
  nudges: Nudges;
  prompt?: ReturnPrompt;
  prompt_expansion?: string;
  timeouts: Timeouts;
  tools: Array<ReturnUserDefinedTool>;
  turn_detection: TurnDetection;
  version: number;
  version_description?: string;
  voice?: ReturnVoice;
  webhooks: Array<Webhook>;
};

// Names the version of a config that a chat used.
export type ReturnConfigSpec = {
  id: string;
  version: number;
};

// What parley doctor found.
export type ReturnDiagnosis = {
  findings: Array<BoxFinding>;
  // No finding is a problem
  healthy: boolean;
};

// The state of a hub and its boxes.
export type ReturnFleet = {
  boxes: number;
  // Connected is whether the hub reaches the server, and Why says why it does not.
  connected: boolean;
  embedded: boolean;
  // FactsPerSecond is how many chats, acts and other facts the hub stored per second, of the last minute.
  facts_per_second: number;
  // Of all boxes, sorted
  groups: Array<string>;
  // Chats on all boxes that are online
  live: number;
  // Lost is how many messages the server deleted before the hub stored them, since it started: hub.keep is too small.
  lost: number;
  // Of the hub
  name: string;
  // Boxes that were seen in the last 25 seconds
  online: number;
  // Problems is how many boxes are offline, not ready, do not run what they should, or report a problem.
  problems: number;
  seats: number;
  // Servers are the URLs of the NATS server as boxes reach it; Embedded is whether the hub itself is that server.
  servers: Array<string>;
  // Waiting is how many messages the server holds that the hub has not stored.
  waiting: number;
  why?: string;
};

// Something that happened on a box: an administrative act, a webhook, or facts that the hub will never get.
export type ReturnFleetAct = {
  // Act is set for an act, as the audit log of the box has it.
  act?: ReturnAct;
  box: string;
  id: number;
  // Act, webhook, dropped or rejected
  kind: string;
  on: number;
  // Text says what happened, for people.
  text: string;
};

// A box of a hub.
export type ReturnFleetBox = {
  added_on: number;
  // Chats is how many of its chats the hub stores.
  chats: number;
  groups: Array<string>;
  // JoinedOn is when its credentials were made.
  joined_on: number;
  name: string;
  // Online is whether the hub has heard of it in the last 25 seconds.
  online: boolean;
  // SeenOn is when its newest state came; absent if none ever came.
  seen_on?: number;
  // State is the newest state; absent if none ever came.
  state?: FleetState;
  // Wanted is the revision of what the hub wants it to run.
  wanted: number;
};

// Lists what a box is to run, besides the keys of clients.
export type ReturnFleetBoxItems = {
  items: Array<FleetBoxItem>;
};

// Lists the boxes of a hub by name.
export type ReturnFleetBoxes = {
  boxes: Array<ReturnFleetBox>;
};

// The history of a box's health, oldest first: a state a minute for a week, and a state an hour for 90 days.
export type ReturnFleetHealth = {
  box: string;
  states: Array<FleetState>;
};

// An item with what the targets are to run of it.
export type ReturnFleetItem = {
  item: FleetItem;
  // Newest is the newest version on the hub of a config, prompt or tool; absent for other items and if it was deleted.
  newest?: number;
  // Targets has the newest roll-out for each target, that of the widest target first.
  targets: Array<FleetItemTarget>;
};

// Lists what is rolled out.
export type ReturnFleetItems = {
  items: Array<ReturnFleetItem>;
};

// Lists the chats that match a search, newest first.
export type ReturnFoundChats = {
  chats: Array<FoundChat>;
  next?: string;
};

// One candidate.
export type ReturnGeneration = {
  // A complete file, base64
  audio: string;
  duration: number;
  encoding: AudioEncoding;
  // Bytes of the file
  file_size: number;
  generation_id: string;
  // One list for each utterance
  snippets: Array<Array<Snippet>>;
};

// An API key as an operator sees it: without the key itself, which the box does not store.
export type ReturnKey = {
  account: string;
  created_on: number;
  // Absent if it does not expire.
  expires_on?: number;
  // The last characters of the API key.
  hint: string;
  // The id that revokes it
  key_id: string;
  // Whether it is the key of a screen.
  kiosk: boolean;
  label: string;
  // When it was last used, up to five minutes late; absent if never.
  last_used_on?: number;
  // Absent unless it was revoked.
  revoked_on?: number;
  // Client or operator
  role: string;
};

// A paired screen.
export type ReturnKiosk = {
  account: string;
  // The config of its chats; absent: the settings of the box.
  config_id?: string;
  config_name?: string;
  // The id that revokes it
  key_id: string;
  name: string;
  paired_on: number;
  // Absent unless it was revoked.
  revoked_on?: number;
};

// Lists what the box can serve.
export type ReturnLanguageModels = {
  language_models: Array<LanguageModelEntry>;
  strict_models: boolean;
};

// An account's pronunciations, in alphabetical order.
export type ReturnLexicon = {
  entries: Array<ReturnPronunciation>;
};

// What the hub of a fleet manages on the box, so that it cannot be changed there.
export type ReturnManaged = {
  // Its name
  hub: string;
  // The ids of configs, prompts, tools, voices and keys, and the names of plugins.
  ids: Array<string>;
};

// Who the caller is, and which box answers.
export type ReturnOperator = {
  // The name of the account that the caller acts for
  account: string;
  // The names of all accounts, oldest first
  accounts: Array<string>;
  // Whether it is the hub of other boxes
  hub?: boolean;
  // Absent if the box is in no fleet
  managed?: ReturnManaged;
  // Absent if the caller has a key
  session?: ReturnSession;
  // Of the box
  version: string;
};

// A pack: a model or a library that the box can use.
export type ReturnPack = {
  bytes: number;
  does: string;
  // Whether the settings use it.
  in_use: boolean;
  // Runtime, phonemes, transcriber, turn, voice, language-model or faces
  kind: string;
  // SPDX expression
  licence: string;
  name: string;
  // Whether the operator added it, so that it cannot be downloaded.
  own: boolean;
  // Ready, missing or damaged
  status: string;
  // Whether the operating system provides it.
  system: boolean;
  version: string;
  // The files that are missing or damaged.
  why?: string;
};

// Lists the packs of the box.
export type ReturnPacks = {
  folder: string;
  // Free bytes on its disk
  free: number;
  packs: Array<ReturnPack>;
  // The newest download since the box started; absent if there was none.
  pull?: PackPull;
  // Why the box cannot change the folder, in words; absent if it can.
  read_only?: string;
};

// A page of the audit log.
export type ReturnPagedActs = {
  acts_page: Array<ReturnAct>;
  // From 0
  page_number: number;
  page_size: number;
  total_pages: number;
  // The names of all acts in the log.
  whats: Array<string>;
};

// A page of chat groups.
export type ReturnPagedChatGroups = {
  chat_groups_page: Array<ReturnChatGroup>;
  // From 0
  page_number: number;
  page_size: number;
  pagination_direction: "ASC" | "DESC";
  total_pages: number;
};

// A page of chats.
export type ReturnPagedChats = {
  chats_page: Array<ReturnChat>;
  // From 0
  page_number: number;
  page_size: number;
  pagination_direction: "ASC" | "DESC";
  total_pages: number;
};

// A page of configs.
export type ReturnPagedConfigs = {
  configs_page: Array<ReturnConfig>;
  // From 0
  page_number: number;
  page_size: number;
  total_pages: number;
};

// A page of what happened on the boxes, newest first.
export type ReturnPagedFleetActs = {
  acts_page: Array<ReturnFleetAct>;
  // From 0
  page_number: number;
  page_size: number;
  total_pages: number;
};

// A page of keys.
export type ReturnPagedKeys = {
  keys_page: Array<ReturnKey>;
  // From 0
  page_number: number;
  page_size: number;
  total_pages: number;
};

// A page of screens.
export type ReturnPagedKiosks = {
  kiosks_page: Array<ReturnKiosk>;
  // From 0
  page_number: number;
  page_size: number;
  total_pages: number;
};

// A page of prompts.
export type ReturnPagedPrompts = {
  // From 0
  page_number: number;
  page_size: number;
  prompts_page: Array<ReturnPrompt>;
  total_pages: number;
};

// A page of roll-outs, newest first.
export type ReturnPagedRollouts = {
  // From 0
  page_number: number;
  page_size: number;
  rollouts_page: Array<ReturnRollout>;
  total_pages: number;
};

// A page of tools.
export type ReturnPagedUserDefinedTools = {
  // From 0
  page_number: number;
  page_size: number;
  tools_page: Array<ReturnUserDefinedTool>;
  total_pages: number;
};

// A page of voices.
export type ReturnPagedVoices = {
  // From 0
  page_number: number;
  page_size: number;
  total_pages: number;
  voices_page: Array<ReturnVoice>;
};

// A page of webhooks.
export type ReturnPagedWebhooks = {
  // On the whole box, in the last seven days
  dead: number;
  // From 0
  page_number: number;
  page_size: number;
  total_pages: number;
  // On the whole box
  waiting: number;
  webhooks_page: Array<ReturnWebhook>;
};

// The answer to a new password.
export type ReturnPassword = {
  // How many other browsers
  signed_out: number;
};

// An installed plugin.
export type ReturnPlugin = {
  // Since when it is not called, because it failed repeatedly.
  broken_since?: number;
  changed_on: number;
  // The permissions that it asks for and does not have.
  denied: Array<PluginPermission>;
  description: string;
  // Digest is the SHA-256 of its files.
  digest: string;
  // The permissions that it has.
  granted: Array<PluginPermission>;
  hooks?: Array<string>;
  installed_on: number;
  // How much data it stores, for all accounts.
  keeps_bytes: number;
  license?: string;
  name: string;
  // When one call is tried again.
  retry_on?: number;
  settings: Array<PluginSetting>;
  // The key that signed it; absent if it is not signed.
  signed_by?: string;
  state: "ready" | "incomplete" | "broken" | "stopped";
  tools: Array<PluginTool>;
  // Whether the box trusts that key.
  trusted: boolean;
  upgrades: number;
  // As its manifest says
  version: string;
  // Why it is not ready, in words.
  why?: string;
};

// The record of one version of a prompt.
export type ReturnPrompt = {
  created_on: number;
  id: string;
  modified_on: number;
  name: string;
  prompt_expansion?: PromptExpansion;
  text: string;
  version: number;
  version_description?: string;
  version_type: "FIXED" | "LATEST";
};

// A word and its pronunciation.
export type ReturnPronunciation = {
  // The phonemes that the box speaks; absent if the respelling is spoken like any text.
  phonemes?: string;
  said: string;
  word: string;
};

// Says where the box is found after its restart.
export type ReturnRestart = {
  // SHA-256 of the box's own authority; empty without one
  fingerprint: string;
  // At other addresses
  others: Array<string>;
  // An http URL that answers anything when the box listens again
  probe: string;
  // For the caller, as far as known; it signs the browser in, once
  url: string;
};

// A roll-out.
export type ReturnRollout = {
  // Boxes has the state of each box; absent in lists.
  boxes?: Array<RolloutBox>;
  // Canary are the boxes that run it first.
  canary: Array<string>;
  changed_on: number;
  // What is rolled out, for people: a plugin's version, a setting's value.
  content?: string;
  created_on: number;
  failed: number;
  id: number;
  item: FleetItem;
  // It takes the item off the target
  remove?: boolean;
  // How many boxes of the target run it, wait for it, and cannot run it.
  running: number;
  soak_minutes: number;
  // SoakedFrom is since when all canaries run it; absent while one does not.
  soaked_from?: number;
  // Canary, rolling, done, stopped or failed
  state: string;
  target: string;
  // Of a config, prompt or tool
  version?: number;
  waiting: number;
  // Why it failed, or what it waits for.
  why?: string;
};

// A browser that is signed in to the console.
export type ReturnSession = {
  // The name of the account that it acts for
  account: string;
  // The address that it signed in from
  address: string;
  // Its User-Agent
  browser: string;
  // Unix milliseconds
  created_on: number;
  // It is the caller's session
  current: boolean;
  // Unix milliseconds; extended with each use
  expires_on: number;
  id: string;
  // Unix milliseconds, up to five minutes late
  used_on: number;
};

// What a page needs that sets a box up: the present values, and what the machine allows.
export type ReturnSetUp = {
  // IP addresses of the machine
  addresses: Array<string>;
  // The settings file that is written
  file: string;
  // Fixed are the settings that a flag or the environment decides, by field.
  fixed: Array<ReturnSetUpProblem>;
  kiosk: boolean;
  listen: string;
  // Of the machine, in bytes
  memory: number;
  // Characters
  min_password: number;
  // The console has one
  password: boolean;
  profile: string;
  profiles: Array<ReturnSetUpProfile>;
  tls: string;
  tls_names: string;
};

// What is wrong with answers; empty if they can be written.
export type ReturnSetUpCheck = {
  problems: Array<ReturnSetUpProblem>;
  // Allowed, but probably not meant
  warning: string;
};

// Says what is left to do after the settings are written: fetch the packs, and then restart the box.
export type ReturnSetUpDone = {
  // That are missing
  packs: Array<ReturnSetUpPack>;
};

// A pack to fetch.
export type ReturnSetUpPack = {
  bytes: number;
  name: string;
};

// A sentence about a field.
export type ReturnSetUpProblem = {
  // As in PostedSetUp; empty for several
  field: string;
  why: string;
};

// A profile of models.
export type ReturnSetUpProfile = {
  // Of its packs
  bytes: number;
  // Into the memory of the machine
  fits: boolean;
  // That it needs, about
  memory: number;
  name: string;
  recommended: boolean;
};

// A setting as read when the box started.
export type ReturnSetting = {
  // The allowed values, in words
  allowed: string;
  default?: string;
  // Flag and Variable are absent if only the file can hold the setting.
  flag?: string;
  // Where the value comes from: default, a place in a file, a variable or a flag; absent without a value.
  from?: string;
  // The heading of its group
  group: string;
  help: string;
  // In parley.yaml
  key: string;
  // What applies without a value, in words.
  otherwise?: string;
  // Remote is whether the hub of a fleet may make it.
  remote?: boolean;
  // The value, without passwords; absent if it is not set and has no fixed default.
  value?: string;
  variable?: string;
};

// Lists all settings.
export type ReturnSettings = {
  // The settings file
  file?: string;
  settings: Array<ReturnSetting>;
};

// Says how a browser can sign in.
export type ReturnSignIn = {
  // The console has a password; links always work
  password: boolean;
  // This client may set the box up: GET /v0/box/setup
  set_up: boolean;
};

// The key that signs an account's webhooks.
export type ReturnSigningKey = {
  account: string;
  webhook_signing_key: string;
};

// The speech for a PostedTTS.
export type ReturnTTS = {
  generations: Array<ReturnGeneration>;
  request_id?: string;
};

// What was acted on.
export type ReturnThing = {
  id?: string;
  kind?: string;
  name?: string;
};

// Which approved answer fits a question.
export type ReturnTry = {
  // Null: none fits
  answer_id: string | null;
  // Other answers that were considered, best first
  others: Array<ScoredAnswer>;
  // How likely it is the right one, 0 to 1
  score: number;
};

// A turn of the user with a spoken answer.
export type ReturnTurn = {
  // The answer waited for a tool
  called_tool: boolean;
  // The answer's first sentence was ready, or the first spoken part of it
  first_sentence: number;
  // Its first sound was synthesized
  first_sound: number;
  // The language model's first token; absent if none wrote the answer
  first_token?: number;
  // That sound was sent
  sent: number;
  // Its transcript was ready
  transcript: number;
  // The number of the answer, counting those that nobody heard
  turn: number;
  // The silence that ends a turn had passed
  turn_end: number;
  // The user typed it: it arrived complete at turn_end
  typed: boolean;
  // The end of the user's voice
  voice_end: number;
};

// Lists the turns of a live chat, with the times of their stages.
export type ReturnTurns = {
  chat_id: string;
  // The oldest first
  turns: Array<ReturnTurn>;
};

// The record of one version of a tool.
export type ReturnUserDefinedTool = {
  created_on: number;
  description?: string;
  fallback_content?: string;
  id: string;
  modified_on: number;
  name: string;
  parameters: string;
  // The plugin that provides the tool.
  plugin?: string;
  tool_type: "BUILTIN" | "FUNCTION";
  version: number;
  version_description?: string;
  version_type: "FIXED" | "LATEST";
};

// A voice, in the lists of voices and in the record of a config.
export type ReturnVoice = {
  // The versions of a speech request that may use the voice; absent in the record of a config.
  compatible_octave_models?: Array<string>;
  id: string;
  name: string;
  provider: "HUME_AI" | "CUSTOM_VOICE";
  // The tags of the voice, by name; an extension of Parley, absent in the record of a config.
  tags?: Record<string, unknown>;
};

// A name that programs ask for, and the voice that stands in for it.
export type ReturnVoiceAlias = {
  from: "box" | "settings" | "built_in";
  // The id by which programs ask for the same voice.
  id?: string;
  // Whether the voice no longer exists.
  missing?: boolean;
  name: string;
  voice: string;
  // Absent if the voice is one that accounts have saved, each its own.
  voice_id?: string;
};

// Lists the aliases of the box, the operator's first.
export type ReturnVoiceAliases = {
  aliases: Array<ReturnVoiceAlias>;
};

// The delivery of one event to one receiver, without its body.
export type ReturnWebhook = {
  account: string;
  attempts: number;
  // The chat; of the event batch_job, the job.
  chat_id: string;
  // When the event happened.
  created_on: number;
  // The next attempt; absent if there is none, or if it waits for an earlier webhook of its chat.
  due_on?: number;
  event: string;
  id: string;
  // Why the newest attempt failed; absent if it did not.
  last_error?: string;
  // The newest attempt; absent if there was none.
  last_on?: number;
  // Waiting, delivered, or dead: the box gave up
  state: string;
  // When the box gives up.
  until_on?: number;
  // Without a password
  url: string;
};

// How far a roll-out is on a box.
export type RolloutBox = {
  box: string;
  canary: boolean;
  online: boolean;
  // Waiting, running, failed, or replaced (by a later or narrower roll-out of the item)
  state: string;
  why?: string;
};

// An approved answer that was considered.
export type ScoredAnswer = {
  answer_id: string;
  // 0 to 1
  score: number;
};

// A part of an utterance that is spoken in one go.
export type Snippet = {
  // Base64
  audio: string;
  generation_id: string;
  id: string;
  text: string;
  // The requested times, in the order in which they begin.
  timestamps: Array<Timestamp>;
  // What the box's transcriber recognized in the sound; absent in instant mode.
  transcribed_text?: string;
  utterance_index: number;
};

// The result for one source of a job.
export type SourceResult = {
  // Error is why nothing of the source could be analysed, such as a URL that cannot be fetched.
  error?: string;
  results?: InferenceResults;
  source: BatchSource;
};

// Whether the box is ready.
export type State = {
  // Why it is not ready, in words
  missing?: Array<string>;
  // Ok, or not ready
  status: string;
  // Of Parley, in the answer of /healthz
  version?: string;
};

// How far a job is.
export type StateInference = {
  created_timestamp_ms: number;
  // EndedTimestampMS is 0 and absent until the job ends.
  ended_timestamp_ms?: number;
  // Message is why the job is FAILED, else absent.
  message?: string;
  num_errors?: number;
  // The two numbers are absent unless the job is COMPLETED.
  num_predictions?: number;
  // How many sources the job has, and how many of them are analysed; absent unless the details of a job that is
  // IN_PROGRESS are read.
  num_sources?: number;
  num_sources_done?: number;
  // StartedTimestampMS is 0 and absent while the job is queued.
  started_timestamp_ms?: number;
  status: "QUEUED" | "IN_PROGRESS" | "COMPLETED" | "FAILED";
};

// The answer to a message that a live chat has accepted.
export type Taken = Record<string, unknown>;

// A stretch of a sound, in seconds from its beginning.
export type TimeInterval = {
  begin: number;
  end: number;
};

// Ends a chat after so many seconds, 30 to 1800.
export type Timeout = {
  duration_secs?: number;
  enabled: boolean;
};

// End a chat in which nobody speaks, and a chat that has lasted long.
export type Timeouts = {
  inactivity?: Timeout;
  max_duration?: Timeout;
};

// When a word, as written, or a phoneme is heard, in ms since the beginning of its generation.
export type Timestamp = {
  text: string;
  time: MillisecondInterval;
  type: "word" | "phoneme";
};

// A request for an access token.
export type TokenAsked = {
  // Client_credentials
  grant_type: string;
};

// Answers a request for an access token.
export type TokenMade = {
  access_token: string;
  // Seconds
  expires_in: number;
  grant_type: string;
  // Unix milliseconds
  issued_at: number;
  token_type: string;
};

// A problem as clients of OAuth read it: error is one of the words of RFC 6749, section 5.2, which they act upon.
export type TokenRefused = {
  code: string;
  error: string;
  error_description: string;
  message: string;
};

// Says how reliable a transcript is.
export type TranscriptionMetadata = {
  // 0 to 1
  confidence: number;
  // BCP 47
  detected_language?: string;
};

// Where the tool transfer may hand a call over to.
export type TransferDestination = {
  // Attended has the box call the person first, say who calls, and connect the caller only if the person agrees.
  attended: boolean;
  // By which the language model chooses it
  name: string;
  // RingSecs is how long an attended transfer rings until nobody counts as there.
  ring_secs: number;
  // The number to call
  to: string;
};

// Sets when a user's turn has ended.
export type TurnDetection = {
  end_of_turn_silence_ms?: number;
  mode?: "silence" | "semantic";
  prefix_padding_ms?: number;
  speech_detection_threshold?: number;
};

// A model, or a part of one, that has no options.
export type Unconfigurable = Record<string, unknown>;

// One problem of a body.
export type ValidationError = {
  loc: Array<string | number>;
  msg: string;
  // Missing, wrong_type, wrong_value, malformed
  type: string;
};

// A URL that receives events.
export type Webhook = {
  events: Array<"chat_started" | "chat_ended" | "tool_call">;
  url: string;
};

// The result of an example.
export type WebhookTested = {
  delivered: boolean;
  // Why it was not delivered.
  error?: string;
  milliseconds: number;
};

// How many webhooks are retried or were deleted.
export type WebhooksChanged = {
  changed: number;
};
