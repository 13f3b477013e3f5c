// Code generated from the description of the paths; DO NOT EDIT. See web/bundle.

// Says how the sound is written.
export type AudioEncoding = {
  format: "mp3" | "pcm" | "wav";
  // Hz
  sample_rate: number;
};

// One answer of the assistant.
export type BoxAnswer = {
  on: number;
  took_ms: number;
};

// How soon the newest answers came, of the last hour and 512 at most.
export type BoxAnswers = {
  // AddedMedianMS and AddedP95MS are by how much they came later than the silence that ended the turn.
  added_median_ms: number;
  added_p95_ms: number;
  count: number;
  late_from_ms: number;
  // LateShare is which share of them, from 0 to 1, came later than that silence by more than LateFromMS.
  late_share: number;
  // MedianMS and P95MS are from the end of the user's voice to the first sound of the answer; 0 where there was none.
  median_ms: number;
  p95_ms: number;
  // Recent are they, the oldest first; in a stream, those since the event before.
  recent: Array<BoxAnswer>;
};

// A backup that was made.
export type BoxBackup = {
  // Before compression
  bytes: number;
  made_on: number;
};

// What the box proves with who it is.
export type BoxCertificate = {
  ends_on: number;
  names: Array<string>;
  // The box sees to it by itself
  renewed: boolean;
  // Own, files or acme
  source: string;
};

// The conversations that are live.
export type BoxChats = {
  // That have one
  accounts: number;
  live: number;
  // That there are
  seats: number;
};

// The machine's cores.
export type BoxCores = {
  // That an engine has now
  busy: number;
  // That the engines share
  engines: number;
  // That the machine has
  machine: number;
  // ProcessSeconds is how long the box has computed since its start.
  process_seconds: number;
  // Waiting is how many calls of engines wait for cores, by how urgent they are.
  waiting: Array<BoxWaiting>;
};

// A microphone or a loudspeaker that the box uses.
export type BoxDevice = {
  // While it is open
  name?: string;
  open: boolean;
  // Why it is not
  trouble?: string;
};

// The disk of the data folder.
export type BoxDisk = {
  free: number;
  total: number;
};

// What was seen of one part of the box, and what to do about it.
export type BoxFinding = {
  // Ok, warning or problem
  health: string;
  // Absent when all is well
  mend?: string;
  part: string;
  what: string;
};

// How the line of the box's own loudspeaker and microphone is.
export type BoxKiosk = {
  // Of the conversation, as soon as it has one
  chat_id?: string;
  input: BoxDevice;
  output: BoxDevice;
  // Waiting for somebody, or talking
  state: string;
};

// What the box and its machine have of memory.
export type BoxMemory = {
  available: number;
  // Of the box
  resident: number;
  total: number;
};

// How many webhooks wait, and how many were given up in the last seven days.
export type BoxOutbox = {
  dead: number;
  waiting: number;
};

// What hears, thinks and speaks.
export type BoxServes = {
  // The first answers where a config names none
  language_models: Array<string>;
  transcriber: string;
  // Where nobody names one
  voice: string;
};

// How many calls of engines of one urgency wait.
export type BoxWaiting = {
  calls: number;
  // Live, speculative, ahead … batch
  priority: string;
};

// A piece of what was said in a chat, 200 characters at most.
export type ChatExcerpt = {
  event_id: string;
  role: "USER" | "AGENT" | "SYSTEM" | "TOOL";
  text: string;
  timestamp: number;
};

// The body of an answer that has nothing else to say.
export type Confirmation = {
  message: string;
};

// The settings of short generated responses.
export type EllmModel = {
  allow_short_responses?: boolean;
};

// What the assistant says by itself when something happens.
export type EventMessage = {
  enabled: boolean;
  text?: string;
};

// The occasions to speak by itself.
export type EventMessages = {
  on_inactivity_timeout?: EventMessage;
  on_max_duration_timeout?: EventMessage;
  on_new_chat?: EventMessage;
};

// A question with the answer that the assistant should give to it.
export type Example = {
  assistant: string;
  user: string;
};

// A chat that was searched for.
export type FoundChat = {
  chat_group_id: string;
  config?: ReturnConfigSpec;
  custom_session_id?: string;
  // Absent while it goes on
  end_timestamp?: number;
  event_count: number;
  // Excerpt is a piece of the newest message that has the words or, where none are searched for, of the first one of
  // the user.
  excerpt?: ChatExcerpt;
  id: string;
  // JSON as text
  metadata?: string;
  start_timestamp: number;
  status: "ACTIVE" | "USER_ENDED" | "USER_TIMEOUT" | "MAX_DURATION_TIMEOUT" | "INACTIVITY_TIMEOUT" | "ERROR";
};

// Says how long a user must speak to interrupt the assistant.
export type Interruption = {
  min_interruption_ms?: number;
};

// A code with which one screen is paired, once.
export type KioskCode = {
  code: string;
  config_id?: string;
  expires_on: number;
  name: string;
};

// Names a language model.
export type LanguageModel = {
  // Fallback are the models that answer where this one fails, one after the other; an extension of the box's own.
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
  builtin_tools: Array<"web_search" | "hang_up">;
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

// Names a language model, as a LanguageModel does.
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

// A key that was made, or was given new secrets.
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

// The body of a 422: all that does not fit its schema.
export type Malformed = {
  detail: Array<ValidationError>;
};

// A span of the chat, in ms since it began.
export type MillisecondInterval = {
  begin: number;
  end: number;
};

// Short prompts to go on, spoken after so many seconds of silence.
export type Nudges = {
  enabled: boolean;
  interval_secs?: number;
};

// How far the pull of a pack is.
export type PackPull = {
  // Bytes that were downloaded
  done: number;
  ended_on?: number;
  // Error is why it failed.
  error?: string;
  name: string;
  started_on: number;
  // Going, done, failed or cancelled
  state: string;
  // Step is what is being done: downloading, unpacking, checking, or done.
  step: string;
  // Bytes to download
  total: number;
};

// A screen that was paired: the key is told once.
export type PairedKiosk = {
  // Opens conversations with the screen's config, and nothing else
  api_key: string;
  // By which it is revoked
  key_id: string;
  // Of the screen
  name: string;
};

// What came of a call.
export type PluginCalled = {
  content?: string;
  // Error says why it failed; absent where it did not.
  error?: string;
  memory_bytes: number;
  milliseconds: number;
};

// How often a tool or a hook of a plugin was called since the box was started, and how long that took.
export type PluginFigures = {
  // MedianMS and P95MS are those of calls that were made, to the next of some steps; 0 where none was.
  median_ms: number;
  p95_ms: number;
  // Results are how the calls ended: answered, or why not.
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

// What a plugin that was sent asks for, before it is installed.
export type PluginOffer = {
  // Asks is what it asks for; of an upgrade what is new.
  asks: Array<PluginPermission>;
  description: string;
  digest: string;
  // InstalledVersion is what is installed under the name, which it would take the place of; absent where nothing is.
  installed_version?: string;
  license?: string;
  name: string;
  // OtherSigner says in words that it is signed by somebody else than what is installed.
  other_signer?: string;
  // Signed says in words who signed it.
  signed: string;
  // UnsetSettings are required and have no value yet.
  unset_settings: Array<string>;
  version: string;
};

// One thing that a plugin may do, or asks for.
export type PluginPermission = {
  // By which it is granted and revoked
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
  // Value is what it was told, or its default; absent of a secret.
  value?: string;
};

// A tool of a plugin.
export type PluginTool = {
  description: string;
  fallback_content?: string;
  // By which configs name it
  id: string;
  name: string;
  // A JSON Schema
  parameters: unknown;
  timeout_ms: number;
};

// Text for the assistant to speak as it stands.
export type PostedAssistantInput = {
  custom_session_id?: string;
  text: string;
  type: "assistant_input";
};

// Describes the headerless audio that the client sends.
export type PostedAudioConfiguration = {
  channels: number;
  codec?: string;
  encoding: "linear16";
  // Hz
  sample_rate: number;
};

// Enables a tool of the box.
export type PostedBuiltinToolConfig = {
  fallback_content?: string;
  name: "web_search" | "hang_up";
};

// The body of a new config.
export type PostedConfig = {
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

// Names a prompt, and a version of it unless the newest is meant; or it brings the Text of a new one.
export type PostedConfigPrompt = {
  id?: string;
  prompt_expansion?: PostedPromptExpansion;
  text?: string;
  version?: number;
};

// The body of a config's next version.
export type PostedConfigVersion = {
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

// Text that is given to the language model with the user's messages and is no part of the transcript.
export type PostedContext = {
  text: string;
  type?: "persistent" | "temporary" | "editable";
};

// The settings of short generated responses.
export type PostedEllmModel = {
  allow_short_responses?: boolean;
};

// One word and how it is said.
export type PostedEntry = {
  said: string;
  // Word is the word, or several.
  word: string;
};

// What the assistant says by itself when something happens.
export type PostedEventMessage = {
  enabled: boolean;
  text?: string;
};

// The occasions to speak by itself.
export type PostedEventMessages = {
  on_inactivity_timeout?: PostedEventMessage;
  on_max_duration_timeout?: PostedEventMessage;
  on_new_chat?: PostedEventMessage;
};

// A question with the answer that the assistant should give to it.
export type PostedExample = {
  assistant: string;
  user: string;
};

// Of sound.
export type PostedFormat = {
  type: "mp3" | "pcm" | "wav";
};

// Says how long a user must speak to interrupt the assistant.
export type PostedInterruption = {
  min_interruption_ms?: number;
};

// The body that makes a key.
export type PostedKey = {
  // Made where there is none
  account: string;
  // ExpiresIn is after how many seconds it is useless, and forgotten; absent: never.
  expires_in?: number;
  // What it is for
  label?: string;
  // Client, which is the default, or operator
  role?: "client" | "operator";
};

// The body that makes a code with which a screen is paired.
export type PostedKiosk = {
  // Whose config it talks by
  account: string;
  // ConfigID is the config that it talks by; absent: the box's own assistant.
  config_id?: string;
  // What the screen is called, which it shows
  name: string;
};

// Names a language model.
export type PostedLanguageModel = {
  // Fallback are the models that answer where this one fails, one after the other; an extension of the box's own.
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

// Names a language model, as a LanguageModel does.
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

// How all words of an account are said that the box would say otherwise.
export type PostedLexicon = {
  entries: Array<PostedEntry>;
};

// The body that renames a config, prompt or tool.
export type PostedName = {
  name: string;
};

// Short prompts to go on, spoken after so many seconds of silence.
export type PostedNudges = {
  enabled?: boolean;
  interval_secs?: number;
};

// The body that pairs a screen.
export type PostedPairing = {
  // That the box shows; case and what stands between do not matter
  code: string;
};

// Makes the assistant silent until the matching resume.
export type PostedPauseAssistantMessage = {
  custom_session_id?: string;
  type: "pause_assistant_message";
};

// The value of a setting.
export type PostedPluginAnswer = {
  name: string;
  value: string;
};

// A call of a tool of a plugin.
export type PostedPluginCall = {
  // A JSON object as text
  parameters?: string;
  // May be left out where it has one
  tool?: string;
};

// Says what is to be changed of a plugin.
export type PostedPluginChange = {
  grant?: Array<string>;
  revoke?: Array<string>;
  settings?: Array<PostedPluginAnswer>;
  // Settings that are to be forgotten
  unset?: Array<string>;
};

// The body of a new prompt.
export type PostedPrompt = {
  name: string;
  prompt_expansion?: PostedPromptExpansion;
  text: string;
  version_description?: string;
};

// Says whether the box may add to a prompt what helps a spoken conversation.
export type PostedPromptExpansion = {
  enabled?: boolean;
};

// The body of a prompt's next version.
export type PostedPromptVersion = {
  prompt_expansion?: PostedPromptExpansion;
  text: string;
  version_description?: string;
};

// Says how one word is said.
export type PostedPronunciation = {
  // Said is how: phonemes of the International Phonetic Alphabet between slashes (/wɪn/), or a respelling, as
  // syllables with hyphens, the stressed ones in capitals (hwah-KEEN), or as words that sound like it.
  said: string;
};

// Lets the assistant answer again.
export type PostedResumeAssistantMessage = {
  custom_session_id?: string;
  type: "resume_assistant_message";
};

// The body that has the console act for another account.
export type PostedSessionAccount = {
  // The name of one that there is
  account: string;
};

// Change how the chat goes on; they are merged field by field into what is in force.
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

// The body that signs a browser in to the console.
export type PostedSignIn = {
  // What stands behind #signin= in the link
  link: string;
};

// Asks for texts to be spoken.
export type PostedTTS = {
  // Context is what was said before: it is not spoken, but what is spoken goes on with its voice and its style.
  context?: PostedTTSContext;
  // Format of the sound; mp3 where it is absent.
  format?: PostedFormat;
  // IncludeTimestampTypes asks for the times of words, of phonemes, or of both.
  include_timestamp_types?: Array<"word" | "phoneme">;
  // InstantMode sends sound as it is made.
  instant_mode?: boolean;
  // NumGenerations is how many candidates are made; 1 where it is absent.
  num_generations?: number;
  // SplitUtterances cuts utterances into snippets at natural places, true where it is absent; false makes one snippet
  // of each utterance.
  split_utterances?: boolean;
  // StripHeaders makes one file of the chunks of a generation, joined; otherwise each chunk is a file.
  strip_headers?: boolean;
  // Temperature is how much is left to chance, 0 to 1.
  temperature?: number;
  // Utterances are what is to be said, in order.
  utterances: Array<PostedUtterance>;
  // Version 2 needs a voice.
  version?: "1" | "2";
};

// One of the two.
export type PostedTTSContext = {
  // GenerationID of the account.
  generation_id?: string;
  // Utterances that count as said.
  utterances?: Array<PostedUtterance>;
};

// Ends a chat after so many seconds, MinTimeout to MaxTimeout.
export type PostedTimeout = {
  duration_secs?: number;
  enabled: boolean;
};

// End a chat in which nobody says anything, and one that is long.
export type PostedTimeouts = {
  inactivity?: PostedTimeout;
  max_duration?: PostedTimeout;
};

// A tool that the developer answers.
export type PostedTool = {
  description?: string;
  fallback_content?: string;
  name: string;
  // JSON schema as text
  parameters: string;
  type: "function";
};

// Says that a tool failed.
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

// Names a tool, and a version of it unless the newest is meant.
export type PostedToolRef = {
  id: string;
  version?: number;
};

// What a tool answered.
export type PostedToolResponseMessage = {
  content: string;
  custom_session_id?: string;
  tool_call_id: string;
  tool_name?: string;
  tool_type?: "builtin" | "function";
  type: "tool_response";
};

// Says when a user has finished.
export type PostedTurnDetection = {
  end_of_turn_silence_ms?: number;
  mode?: "silence" | "semantic";
  prefix_padding_ms?: number;
  speech_detection_threshold?: number;
};

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

// A text and how it is to be said.
export type PostedUtterance = {
  // Description says how a voice is to speak or, where none is named, which voice is to be made.
  description?: string;
  // Speed is how fast it is said, 1 being the voice's own.
  speed?: number;
  text: string;
  // TrailingSilence is put behind the utterance, in seconds.
  trailing_silence?: number;
  // Voice holds for the utterances that follow, too.
  voice?: PostedVoiceRef;
};

// The body that describes a version anew; one without a description takes the old one away.
export type PostedVersionDescription = {
  version_description?: string;
};

// The body that saves the voice of a generation.
export type PostedVoice = {
  generation_id: string;
  name: string;
};

// Says which voice stands in for a name.
export type PostedVoiceAlias = {
  // Voice is the name or id of a voice of the library, or of one that an account has saved: then it stands in for those
  // accounts that have a voice of its name.
  voice: string;
};

// Names a voice by its id or by its name.
export type PostedVoiceRef = {
  id?: string;
  name?: string;
  provider?: "HUME_AI" | "CUSTOM_VOICE";
};

// A URL that is told of events.
export type PostedWebhook = {
  events: Array<"chat_started" | "chat_ended" | "tool_call">;
  url: string;
};

// Says which webhooks are meant.
export type PostedWebhookChoice = {
  // Account, with all, is the name of the one whose they are; absent: all.
  account?: string;
  // All of them, in place of ids
  all?: boolean;
  ids?: Array<string>;
};

// The body that tries a receiver.
export type PostedWebhookTest = {
  // Whose signing key is used
  account: string;
  url: string;
};

// The body of every error but 422.
export type Problem = {
  code: string;
  error: string;
  message: string;
};

// Says whether the box may add to a prompt what helps a spoken conversation.
export type PromptExpansion = {
  enabled?: boolean;
};

// How the box does now.
export type ReturnBoxHealth = {
  answers: BoxAnswers;
  // Backup is the newest that was made on this machine; absent where none was.
  backup?: BoxBackup;
  // Certificate is absent where the box serves without TLS.
  certificate?: BoxCertificate;
  chats: BoxChats;
  cores: BoxCores;
  disk: BoxDisk;
  // Kiosks are the screens that are paired.
  kiosks: number;
  memory: BoxMemory;
  // What keeps it from being ready, in words
  missing: Array<string>;
  now: number;
  // Ready says whether a conversation could start.
  ready: boolean;
  // Serves is what does the work, as the settings name it.
  serves: BoxServes;
  // Speaker is the line of the box's own loudspeaker and microphone; absent where there is none, and until the models
  // are loaded.
  speaker?: BoxKiosk;
  started_on: number;
  version: string;
  webhooks: BoxOutbox;
};

// A tool of the box in the record of a config.
export type ReturnBuiltinTool = {
  fallback_content?: string;
  name: "web_search" | "hang_up";
  tool_type: "BUILTIN" | "FUNCTION";
};

// The record of one conversation.
export type ReturnChat = {
  chat_group_id: string;
  config?: ReturnConfigSpec;
  // Absent while it goes on
  end_timestamp?: number;
  event_count: number;
  id: string;
  // JSON as text
  metadata?: string;
  start_timestamp: number;
  status: "ACTIVE" | "USER_ENDED" | "USER_TIMEOUT" | "MAX_DURATION_TIMEOUT" | "INACTIVITY_TIMEOUT" | "ERROR";
};

// Says where to hear a chat.
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

// One thing that happened in a chat.
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

// A chat with those that resumed it, as lists have it.
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

// What parley doctor finds.
export type ReturnDiagnosis = {
  findings: Array<BoxFinding>;
  // No finding is a problem
  healthy: boolean;
};

// Chats that were found, the newest first.
export type ReturnFoundChats = {
  chats: Array<FoundChat>;
  next?: string;
};

// One candidate.
export type ReturnGeneration = {
  // A whole file, base64
  audio: string;
  duration: number;
  encoding: AudioEncoding;
  // Bytes of the file
  file_size: number;
  generation_id: string;
  // A list for each utterance
  snippets: Array<Array<Snippet>>;
};

// An API key as the box's operator sees it: without the key itself, which the box does not keep.
export type ReturnKey = {
  account: string;
  created_on: number;
  // ExpiresOn is absent where it has no end.
  expires_on?: number;
  // Hint is the last characters of the API key.
  hint: string;
  // By which it is revoked
  key_id: string;
  // Kiosk says that it is the key of a screen.
  kiosk: boolean;
  label: string;
  // LastUsedOn is when it last opened the box, five minutes behind at most; absent: never.
  last_used_on?: number;
  // RevokedOn is absent while it is good.
  revoked_on?: number;
  // Client or operator
  role: string;
};

// A screen that was paired.
export type ReturnKiosk = {
  account: string;
  // ConfigID is the config that it talks by; absent: the box's own assistant.
  config_id?: string;
  config_name?: string;
  // By which it is revoked
  key_id: string;
  name: string;
  paired_on: number;
  // RevokedOn is absent while it is good.
  revoked_on?: number;
};

// Lists what the box can serve.
export type ReturnLanguageModels = {
  language_models: Array<LanguageModelEntry>;
  strict_models: boolean;
};

// An account's lexicon, in alphabetical order.
export type ReturnLexicon = {
  entries: Array<ReturnPronunciation>;
};

// Who asks, and which box answers.
export type ReturnOperator = {
  // The name of the one that the key or the session acts for
  account: string;
  // The names of all, the oldest first
  accounts: Array<string>;
  // Missing where a key asks
  session?: ReturnSession;
  // Of the box
  version: string;
};

// A pack of the box: a model or a library that it runs on, or could.
export type ReturnPack = {
  bytes: number;
  does: string;
  // InUse: the settings have the box run on it.
  in_use: boolean;
  // Runtime, phonemes, transcriber, turn, voice or language-model
  kind: string;
  // SPDX expression
  licence: string;
  name: string;
  // Own: the operator added it, and nobody else can fetch it.
  own: boolean;
  // Ready, missing or damaged
  status: string;
  // System: the operating system provides it.
  system: boolean;
  version: string;
  // Why says what is missing or damaged.
  why?: string;
};

// The packs of the box.
export type ReturnPacks = {
  folder: string;
  // Bytes on its disk
  free: number;
  packs: Array<ReturnPack>;
  // Pull is the newest pull of a pack since the box was started; absent where there was none.
  pull?: PackPull;
  // ReadOnly says in words why the box cannot change the folder; absent where it can.
  read_only?: string;
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

// A plugin that is installed on the box.
export type ReturnPlugin = {
  // BrokenSince is since when it is left alone, because it failed in a row.
  broken_since?: number;
  changed_on: number;
  // Denied is what it asks for and was not granted.
  denied: Array<PluginPermission>;
  description: string;
  // Digest is the SHA-256 of its files.
  digest: string;
  // Granted is what it may do.
  granted: Array<PluginPermission>;
  hooks?: Array<string>;
  installed_on: number;
  // KeepsBytes is how much it keeps, for all accounts.
  keeps_bytes: number;
  license?: string;
  name: string;
  // RetryOn is from when on one call is tried.
  retry_on?: number;
  settings: Array<PluginSetting>;
  // SignedBy is the key by which it is signed; absent: it is not.
  signed_by?: string;
  state: "ready" | "incomplete" | "broken" | "stopped";
  tools: Array<PluginTool>;
  // Trusted says that the box trusts that key.
  trusted: boolean;
  upgrades: number;
  // As its manifest says
  version: string;
  // Why says in words why it is not ready.
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

// One word and how it is said.
export type ReturnPronunciation = {
  // Phonemes are how the box understands what is said; absent where it is read as any text.
  phonemes?: string;
  said: string;
  word: string;
};

// A browser that is signed in to the console.
export type ReturnSession = {
  // The name of the one that it acts for
  account: string;
  // From where it signed in
  address: string;
  // What it says of itself
  browser: string;
  // Unix milliseconds
  created_on: number;
  // It is the one that asks
  current: boolean;
  // Unix milliseconds; later where it is used before
  expires_on: number;
  id: string;
  // Unix milliseconds, five minutes behind at most
  used_on: number;
};

// A setting as it holds since the box was started.
export type ReturnSetting = {
  // What it may be, in words
  allowed: string;
  default?: string;
  flag: string;
  // From is where the value comes from: default, a place in a file, a variable or a flag; absent where there is none.
  from?: string;
  // The heading under which it is listed
  group: string;
  help: string;
  // In parley.yaml
  key: string;
  // Otherwise says in words what holds where it has no value.
  otherwise?: string;
  // Value is what it was set to, without passwords; absent where nobody set it and it has no fixed default.
  value?: string;
  variable: string;
};

// All settings.
export type ReturnSettings = {
  // That was read
  file?: string;
  settings: Array<ReturnSetting>;
};

// The key that the webhooks of an account are signed with.
export type ReturnSigningKey = {
  account: string;
  webhook_signing_key: string;
};

// What was made of a PostedTTS.
export type ReturnTTS = {
  generations: Array<ReturnGeneration>;
  request_id?: string;
};

// A turn of the user's that was answered aloud.
export type ReturnTurn = {
  // A tool was waited for
  called_tool: boolean;
  // The answer's first sentence, or the piece of it that is spoken first
  first_sentence: number;
  // Its first sound was made
  first_sound: number;
  // The language model's first word; missing where none wrote the answer
  first_token?: number;
  // That was sent
  sent: number;
  // Its words were there
  transcript: number;
  // Counts the answers that were begun, also those that nobody heard
  turn: number;
  // The silence that ends a turn was over
  turn_end: number;
  // It was written: it came, whole, at turn_end
  typed: boolean;
  // The end of the user's voice
  voice_end: number;
};

// The turns of a live chat, with the moments of their stages.
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
  // Plugin is the plugin of the box that brings the tool: then it is read-only, of every account, and has this one
  // version.
  plugin?: string;
  tool_type: "BUILTIN" | "FUNCTION";
  version: number;
  version_description?: string;
  version_type: "FIXED" | "LATEST";
};

// A voice, in the lists of voices and in the record of a config.
export type ReturnVoice = {
  // CompatibleOctaveModels are the versions of a request for speech that may name the voice; not in the record of a
  // config.
  compatible_octave_models?: Array<string>;
  id: string;
  name: string;
  provider: "HUME_AI" | "CUSTOM_VOICE";
  // Tags say what the voice is like, by the name of the tag: an extension of the box's own, not in the record of a
  // config.
  tags?: Record<string, unknown>;
};

// A name that programs ask for, and the voice that stands in for it.
export type ReturnVoiceAlias = {
  from: "box" | "settings" | "built_in";
  // ID is another name by which programs ask for the same voice.
  id?: string;
  // Missing says that there is no such voice any more.
  missing?: boolean;
  name: string;
  voice: string;
  // VoiceID is absent where accounts have saved the voice, each its own.
  voice_id?: string;
};

// All of a box, those of the operator first.
export type ReturnVoiceAliases = {
  aliases: Array<ReturnVoiceAlias>;
};

// What one receiver is told of one event, and how far that has come.
export type ReturnWebhook = {
  account: string;
  attempts: number;
  chat_id: string;
  // CreatedOn is when that happened which it tells.
  created_on: number;
  // DueOn is the next attempt; absent where it is over, or waits for the one before it in its chat.
  due_on?: number;
  event: string;
  id: string;
  // LastError is why that failed; absent: it did not.
  last_error?: string;
  // LastOn is the newest attempt; absent: there was none.
  last_on?: number;
  // Waiting, delivered, or dead: it was given up
  state: string;
  // UntilOn is from when on one that waits is not tried again.
  until_on?: number;
  // Without a password
  url: string;
};

// A part of an utterance that was spoken in one go.
export type Snippet = {
  // Base64
  audio: string;
  generation_id: string;
  id: string;
  text: string;
  // Timestamps are of the types that were asked for, in the order in which they begin.
  timestamps: Array<Timestamp>;
  // TranscribedText is what the box's own ear heard in the sound; absent in instant mode.
  transcribed_text?: string;
  utterance_index: number;
};

// How the box is.
export type State = {
  // What keeps it from being ready, in words
  missing?: Array<string>;
  // Ok, or not ready
  status: string;
};

// Says that a live chat has taken a message.
export type Taken = Record<string, unknown>;

// Ends a chat after so many seconds, MinTimeout to MaxTimeout.
export type Timeout = {
  duration_secs?: number;
  enabled: boolean;
};

// End a chat in which nobody says anything, and one that is long.
export type Timeouts = {
  inactivity?: Timeout;
  max_duration?: Timeout;
};

// Says when a word, as it is written, or a phoneme is heard, in ms since the beginning of its generation.
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

// Says when a user has finished.
export type TurnDetection = {
  end_of_turn_silence_ms?: number;
  mode?: "silence" | "semantic";
  prefix_padding_ms?: number;
  speech_detection_threshold?: number;
};

// One thing that is wrong with a body.
export type ValidationError = {
  loc: Array<string | number>;
  msg: string;
  // Missing, wrong_type, wrong_value, malformed
  type: string;
};

// A URL that is told of events.
export type Webhook = {
  events: Array<"chat_started" | "chat_ended" | "tool_call">;
  url: string;
};

// What came of a try.
export type WebhookTested = {
  delivered: boolean;
  // Error says why it was not delivered.
  error?: string;
  milliseconds: number;
};

// How many webhooks are tried again, or were forgotten.
export type WebhooksChanged = {
  changed: number;
};
